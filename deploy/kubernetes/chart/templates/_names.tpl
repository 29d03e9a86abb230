{{- /* Copyright distbench authors */ -}}
{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* Names and labels. */ -}}

{{- /* Short enough for a Job's name and index to be a host's name. */ -}}
{{- define "distbench.name" -}}
{{- if contains "distbench" .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-distbench" (.Release.Name | trunc 30 | trimSuffix "-") }}
{{- end -}}
{{- end -}}

{{- /* A Job cannot be changed: each upgrade makes another, which runs again. */ -}}
{{- define "distbench.job" -}}
{{ include "distbench.name" . }}-{{ .Release.Revision }}
{{- end -}}

{{- define "distbench.secret" -}}
{{ .Values.security.secret | default (printf "%s-secret" (include "distbench.name" .)) }}
{{- end -}}

{{- define "distbench.testConfigMap" -}}
{{ .Values.test.configMap | default (printf "%s-test" (include "distbench.name" .)) }}
{{- end -}}

{{- define "distbench.resultsClaim" -}}
{{- if .Values.results.claim -}}
{{ .Values.results.claim }}
{{- else if .Values.results.size -}}
{{ include "distbench.name" . }}-results
{{- end -}}
{{- end -}}

{{- define "distbench.selector" -}}
app.kubernetes.io/name: distbench
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "distbench.labels" -}}
{{ include "distbench.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}
