{{- /* Copyright distbench authors */ -}}
{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* Probes of the long-lived cluster. The kubelet's probes for gRPC present no
certificate. With mutual TLS, `distbench status` asks the sequencer instead,
and the metrics, which are served without TLS, show that a process answers. */ -}}

{{- define "distbench.sequencerProbes" -}}
{{- $health := printf "{grpc: {port: %d}}" (int .Values.port) | fromYaml -}}
{{- $alive := $health -}}
{{- if .Values.security.tls -}}
{{- $health = printf "{exec: {command: [distbench, status, --test_sequencer=localhost:%d]}}" (int .Values.port) | fromYaml -}}
{{- $alive = include "distbench.answers" . | fromYaml -}}
{{- end -}}
startupProbe:
  {{- toYaml $health | nindent 2 }}
  periodSeconds: 2
  timeoutSeconds: 10
  failureThreshold: 30
readinessProbe:
  {{- toYaml $health | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 10
livenessProbe:
  {{- toYaml $alive | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 10
  failureThreshold: 6
{{- end -}}

{{- /* A node is healthy while it is registered. A node that has lost the sequencer
is not restarted, because it registers again by itself. A node that has never
found it ends after a minute, which restarts it. */ -}}
{{- define "distbench.nodeProbes" -}}
startupProbe:
  {{- include "distbench.answers" . | nindent 2 }}
  periodSeconds: 2
  timeoutSeconds: 10
  failureThreshold: 30
{{- if not .Values.security.tls }}
readinessProbe:
  grpc:
    port: {{ .Values.healthPort }}
  periodSeconds: 10
  timeoutSeconds: 10
{{- end }}
livenessProbe:
  {{- include "distbench.answers" . | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 10
  failureThreshold: 6
{{- end -}}

{{- define "distbench.answers" -}}
httpGet:
  path: /metrics
  port: {{ .Values.metricsPort }}
{{- end -}}
