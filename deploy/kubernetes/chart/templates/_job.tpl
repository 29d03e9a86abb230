{{- /* Copyright distbench authors */ -}}
{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* Parts of the Job alone. */ -}}

{{- define "distbench.spread" -}}
{{- if eq .Values.spread "even" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: DoNotSchedule
    labelSelector:
      matchLabels:
        {{- include "distbench.selector" . | nindent 8 }}
        app.kubernetes.io/component: job
{{- else if eq .Values.spread "distinct" -}}
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "distbench.selector" . | nindent 12 }}
            app.kubernetes.io/component: job
{{- end -}}
{{- end -}}

{{- define "distbench.command" -}}
{{- if not .Values.serve -}}
- --
{{ if .Values.command -}}
{{ toYaml .Values.command }}
{{- else -}}
- run_tests
- --infile=/test/test.config
- --outfile=/results/{{ include "distbench.job" . }}.pb.gz
- --binary_output
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Empty if there is none, because the command brings its own test. */ -}}
{{- define "distbench.testVolume" -}}
{{- if .Values.test.claim -}}
- name: test
  persistentVolumeClaim:
    claimName: {{ .Values.test.claim }}
    readOnly: true
{{- else if or .Values.test.config .Values.test.configMap -}}
- name: test
  configMap:
    name: {{ include "distbench.testConfigMap" . }}
{{- end -}}
{{- end -}}
