{{- /* Copyright distbench authors */ -}}
{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}

{{- /* What values.schema.json cannot say. Each message names the value, the
problem and the remedy. */ -}}

{{- /* What the API server accepts in a ConfigMap: 1 MiB. */ -}}
{{- define "distbench.configMapLimit" -}}1048576{{- end -}}

{{- define "distbench.check" -}}
{{- include "distbench.checkName" . -}}
{{- include "distbench.checkNetwork" . -}}
{{- include "distbench.checkSecurity" . -}}
{{- include "distbench.checkResults" . -}}
{{- if eq .Values.form "job" -}}
{{- include "distbench.checkTest" . -}}
{{- else -}}
{{- include "distbench.checkCluster" . -}}
{{- end -}}
{{- end -}}

{{- define "distbench.checkName" -}}
{{- if not (regexMatch "^[a-z][a-z0-9-]*$" .Release.Name) -}}
{{- fail (printf "the release's name %q cannot be part of a Service's name: begin with a letter, and use only lower-case letters, digits and hyphens" .Release.Name) -}}
{{- end -}}
{{- end -}}

{{- define "distbench.checkNetwork" -}}
{{- if and .Values.hostNetwork (not .Values.hostNetworkAcknowledged) -}}
{{- fail "hostNetwork: the Pod Security levels \"restricted\" and \"baseline\" forbid the hosts' network, so this needs a namespace whose level is \"privileged\"; if this namespace's is, set hostNetworkAcknowledged=true" -}}
{{- end -}}
{{- end -}}

{{- define "distbench.checkSecurity" -}}
{{- if and .Values.security.secret (not .Values.security.tls) -}}
{{- fail (printf "security.secret is %q, but security.tls=false would not use it: leave one of them out" .Values.security.secret) -}}
{{- end -}}
{{- end -}}

{{- define "distbench.checkResults" -}}
{{- if and .Values.results.claim .Values.results.size -}}
{{- fail "results.claim names a claim that exists, and results.size makes another: set one of them" -}}
{{- end -}}
{{- end -}}

{{- define "distbench.checkTest" -}}
{{- $tests := compact (list .Values.test.config .Values.test.configMap .Values.test.claim) -}}
{{- if gt (len $tests) 1 -}}
{{- fail "test.config, test.configMap and test.claim exclude each other: set one of them" -}}
{{- end -}}
{{- if and .Values.serve (or $tests .Values.command) -}}
{{- fail "serve=true runs no command: leave out command and test, or serve" -}}
{{- end -}}
{{- if not (or $tests .Values.command .Values.serve) -}}
{{- fail "there is no test: add --set-file test.config=FILE, or set test.configMap, test.claim or command (or serve=true, to submit tests later)" -}}
{{- end -}}
{{- $limit := include "distbench.configMapLimit" . | int -}}
{{- if gt (len .Values.test.config) $limit -}}
{{- fail (printf "test.config has %d bytes, and a ConfigMap holds at most %d: put the file on a volume as test.config, and name its claim with test.claim" (len .Values.test.config) $limit) -}}
{{- end -}}
{{- if and (eq (int .Values.size) 1) (not .Values.nodeOnLeader) -}}
{{- fail "size=1 with nodeOnLeader=false has no node to run a test on: raise size" -}}
{{- end -}}
{{- end -}}

{{- define "distbench.checkCluster" -}}
{{- $ports := list (int .Values.port) (int .Values.healthPort) (int .Values.metricsPort) -}}
{{- if ne (len (uniq $ports)) 3 -}}
{{- fail (printf "port, healthPort and metricsPort are %v, %v and %v: they must be different" (index $ports 0) (index $ports 1) (index $ports 2)) -}}
{{- end -}}
{{- if or .Values.test.config .Values.test.configMap .Values.test.claim .Values.command .Values.serve -}}
{{- fail "form=cluster runs no test by itself: leave out test, command and serve, and submit tests with `distbench run_tests` (or use form=job)" -}}
{{- end -}}
{{- end -}}
