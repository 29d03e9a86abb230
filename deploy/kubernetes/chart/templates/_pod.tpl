{{- /* Copyright distbench authors */ -}}
{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* Parts of a Pod that all forms share. They satisfy the Pod Security level
"restricted", unless hostNetwork is set. */ -}}

{{- define "distbench.podSpec" -}}
automountServiceAccountToken: false
# Otherwise a Service called distbench would set variables DISTBENCH_....
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ int64 .Values.user }}
  runAsGroup: {{ int64 .Values.user }}
  fsGroup: {{ int64 .Values.user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- if .Values.hostNetwork }}
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "distbench.image" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- /* Takes {cpus, memory, guaranteed}. */ -}}
{{- define "distbench.resources" -}}
resources:
{{- if .guaranteed }}
  requests: &resources
    cpu: {{ .cpus | quote }}
    memory: {{ .memory }}
  limits: *resources
{{- else }}
  requests:
    cpu: 10m
    memory: 64Mi
{{- end -}}
{{- end -}}

{{- /* Where the Pod runs, as attributes need it. */ -}}
{{- define "distbench.placeVariables" -}}
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
{{- if .Values.topologyLabels }}
- name: ZONE
  valueFrom:
    fieldRef:
      fieldPath: metadata.labels['topology.kubernetes.io/zone']
- name: REGION
  valueFrom:
    fieldRef:
      fieldPath: metadata.labels['topology.kubernetes.io/region']
{{- end }}
{{- end -}}

{{- /* A JSON list of NAME=VALUE. The kubelet expands $(...). */ -}}
{{- define "distbench.attributes" -}}
{{- $attributes := list "kubernetes_node=$(NODE_NAME)" -}}
{{- if .Values.topologyLabels -}}
{{- $attributes = concat $attributes (list "zone=$(ZONE)" "region=$(REGION)") -}}
{{- end -}}
{{- range $name, $value := .Values.attributes -}}
{{- $attributes = append $attributes (printf "%s=%s" $name $value) -}}
{{- end -}}
{{ toJson $attributes }}
{{- end -}}

{{- define "distbench.tlsVariables" -}}
- name: DISTBENCH_TLS_CA
  value: /etc/distbench/secret/ca.crt
- name: DISTBENCH_TLS_CERT
  value: /etc/distbench/secret/tls.crt
- name: DISTBENCH_TLS_KEY
  value: /etc/distbench/secret/tls.key
- name: DISTBENCH_TLS_NAME
  value: distbench-job
{{- end -}}

{{- define "distbench.commonMounts" -}}
# Journals of control groups are kept here.
- name: tmp
  mountPath: /tmp
{{- if .Values.security.tls }}
- name: secret
  mountPath: /etc/distbench/secret
  readOnly: true
{{- end }}
{{- end -}}

{{- define "distbench.commonVolumes" -}}
- name: tmp
  emptyDir: {}
{{- if .Values.security.tls }}
- name: secret
  secret:
    secretName: {{ include "distbench.secret" . }}
    # Of root and of the Pod's group.
    defaultMode: 0440
{{- end }}
{{- end -}}

{{- define "distbench.resultsVolume" -}}
- name: results
{{- with include "distbench.resultsClaim" . }}
  persistentVolumeClaim:
    claimName: {{ . }}
{{- else }}
  emptyDir: {}
{{- end }}
{{- end -}}
