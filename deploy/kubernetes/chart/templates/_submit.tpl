{{- /* Copyright distbench authors */ -}}
{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* For NOTES.txt: how to submit a test through a forwarded port. */ -}}

{{- define "distbench.submit" -}}
{{- if .Values.security.tls }}
  deploy/kubernetes/fetch secret {{ include "distbench.secret" . }} secret -n {{ .Release.Namespace }}
  distbench run_tests --test_sequencer=localhost:{{ .Values.port }} --tls_ca=secret/ca.crt \
      --tls_cert=secret/tls.crt --tls_key=secret/tls.key --tls_name=distbench-job \
      --infile=my_test.config
{{- else }}
  distbench run_tests --test_sequencer=localhost:{{ .Values.port }} --infile=my_test.config
{{- end }}
{{- end -}}
