{{- define "sluice.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "sluice.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "sluice.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sluice.daemon" -}}{{ include "sluice.fullname" . }}-daemon{{- end -}}
{{- define "sluice.bridge" -}}{{ include "sluice.fullname" . }}-bridge{{- end -}}

{{- define "sluice.serviceAccount" -}}
{{- default (ternary (include "sluice.bridge" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}

{{/* Labels of the part that is named in the list's second place. */}}
{{- define "sluice.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "sluice.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "sluice.labels" -}}
{{- $root := index . 0 -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "sluice.image" -}}
{{- $root := index . 0 -}}{{- $image := index . 1 -}}
{{- $missing := printf "%s.image.repository is required: build the image with deploy/Dockerfile and push it to a registry of yours" (index . 2) -}}
{{ printf "%s:%s" (required $missing $image.repository) (default $root.Chart.AppVersion $image.tag) }}
{{- end -}}

{{- define "sluice.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.runAsUser }}
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
{{- end }}
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "sluice.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Where a pod of either part may go, and how it is pulled and ranked. */}}
{{- define "sluice.placement" -}}
{{- $root := index . 0 -}}{{- $part := index . 1 -}}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $part.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: {{ $part.nodeTimeoutSeconds }}}
  - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: {{ $part.nodeTimeoutSeconds }}}
  {{- with $part.tolerations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The metadata of a pod of the part that is named in the list's second place. */}}
{{- define "sluice.podMetadata" -}}
{{- $root := index . 0 -}}{{- $part := index $root.Values (index . 1) -}}
labels:
  {{- include "sluice.labels" . | nindent 2 }}
  {{- with $part.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $part.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where the bridge finds the daemon of this chart. */}}
{{- define "sluice.daemonAddress" -}}
{{- printf "%s:%v" (include "sluice.daemon" .) (default .Values.daemon.service.port .Values.daemon.tlsPort) -}}
{{- end -}}

{{/* How bridges have daemons of their own, in their pods; empty: they share one.
     This is also what the component of these pods is called. */}}
{{- define "sluice.pair" -}}
{{- if .Values.pinned -}}pinned{{- else if gt (int .Values.daemon.replicas) 1 -}}standby{{- end -}}
{{- end -}}

{{/* Whether the daemon itself speaks TLS; empty: it does not. */}}
{{- define "sluice.speaksTLS" -}}
{{- if ne .Values.tls.mode "none" -}}yes{{- end -}}
{{- end -}}

{{/* The secrets with the certificates of both sides, and who may do what. */}}
{{- define "sluice.daemonSecret" -}}
{{- default (printf "%s-daemon-tls" (include "sluice.fullname" .)) .Values.tls.daemonSecretName -}}
{{- end -}}
{{- define "sluice.bridgeSecret" -}}
{{- if or .Values.tls.secretName (eq .Values.tls.mode "none") -}}
{{- .Values.tls.secretName -}}
{{- else -}}
{{- printf "%s-bridge-tls" (include "sluice.fullname" .) -}}
{{- end -}}
{{- end -}}
{{- define "sluice.authoritySecret" -}}{{ include "sluice.fullname" . }}-ca{{- end -}}
{{- define "sluice.accessSecret" -}}
{{- default (printf "%s-access" (include "sluice.fullname" .)) .Values.tls.accessSecretName -}}
{{- end -}}

{{/* By which names the daemon is reached, the shortest first. */}}
{{- define "sluice.daemonNames" -}}
{{- $name := include "sluice.daemon" . -}}
{{- $names := list $name -}}
{{- range $service := list $name (printf "%s-0.%s" $name $name) -}}
{{- $full := printf "%s.%s" $service $.Release.Namespace -}}
{{- $names = concat $names (list $full (printf "%s.svc" $full) (printf "%s.svc.%s" $full $.Values.tls.clusterDomain)) -}}
{{- end -}}
{{- toJson (concat $names (list "localhost") .Values.tls.extraNames) -}}
{{- end -}}

{{/* A probe of the daemon: who asks for it need not say who he is. */}}
{{- define "sluice.daemonProbe" -}}
httpGet: {path: {{ .path }}, port: {{ .http }}{{ if include "sluice.speaksTLS" .root }}, scheme: HTTPS{{ end }}}
{{- end -}}

{{/* The volumes of the daemon's pod, with `volumes:` where there are any. */}}
{{- define "sluice.daemonVolumes" -}}
{{- if or (include "sluice.speaksTLS" .) .Values.daemon.extraVolumes -}}
volumes:
  {{- if include "sluice.speaksTLS" . }}
  - name: tls
    secret: {secretName: {{ include "sluice.daemonSecret" . }}}
  - name: access
    secret:
      secretName: {{ include "sluice.accessSecret" . }}
      items: [{key: access, path: access}]
  {{- end }}
  {{- with .Values.daemon.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* The daemon as a container; it serves gRPC on the address `listen` of its pod,
     and HTTP on the port that is named `http`. */}}
{{- define "sluice.daemonContainer" -}}
- name: sluiced
  image: {{ include "sluice.image" (list .root .root.Values.daemon.image "daemon") }}
  imagePullPolicy: {{ .root.Values.daemon.image.pullPolicy }}
  args:
    - --listen_address={{ .listen }}:9090
    - --http_address=0.0.0.0:9091
    {{- if include "sluice.speaksTLS" .root }}
    - --tls_cert=/etc/sluice/tls/tls.crt
    - --tls_key=/etc/sluice/tls/tls.key
    - --tls_client_ca=/etc/sluice/tls/ca.crt
    - --access_file=/etc/sluice/access/access
    {{- else }}
    - --insecure
    {{- end }}
    {{- if .root.Values.daemon.persistence.enabled }}
    - --data_dir=/var/lib/sluice
    {{- end }}
    {{- range .root.Values.daemon.flags }}
    - {{ . | quote }}
    {{- end }}
  {{- with .root.Values.daemon.extraEnv }}
  env: {{- toYaml . | nindent 4 }}
  {{- end }}
  ports:
    - {name: grpc, containerPort: 9090}
    - {name: {{ .http }}, containerPort: 9091}
  startupProbe:
    {{- include "sluice.daemonProbe" (dict "root" .root "http" .http "path" "/readyz") | nindent 4 }}
    periodSeconds: 1
    failureThreshold: 120
  livenessProbe:
    {{- include "sluice.daemonProbe" (dict "root" .root "http" .http "path" "/healthz") | nindent 4 }}
    periodSeconds: 10
    timeoutSeconds: 5
  readinessProbe:
    {{- include "sluice.daemonProbe" (dict "root" .root "http" .http "path" "/readyz") | nindent 4 }}
    periodSeconds: 5
  resources: {{- toYaml .root.Values.daemon.resources | nindent 4 }}
  securityContext: {{- include "sluice.containerSecurity" .root | nindent 4 }}
  {{- if or .root.Values.daemon.persistence.enabled (include "sluice.speaksTLS" .root) }}
  volumeMounts:
    {{- if .root.Values.daemon.persistence.enabled }}
    - {name: data, mountPath: /var/lib/sluice}
    {{- end }}
    {{- if include "sluice.speaksTLS" .root }}
    - {name: tls, mountPath: /etc/sluice/tls, readOnly: true}
    - {name: access, mountPath: /etc/sluice/access, readOnly: true}
    {{- end }}
  {{- end }}
{{- end -}}

{{/* The bridge as a container; `daemon` is where it finds the daemon. */}}
{{- define "sluice.bridgeContainer" -}}
- name: sluice-bridge
  image: {{ include "sluice.image" (list .root .root.Values.bridge.image "bridge") }}
  imagePullPolicy: {{ .root.Values.bridge.image.pullPolicy }}
  args:
    - --daemon-address={{ .daemon }}
    - --feed={{ .root.Values.feed }}
    - --scheduler-name={{ join "," .root.Values.schedulerNames }}
    - --default-spread={{ .root.Values.defaultSpread | default "system" }}
    - --bind-qps={{ .root.Values.bridge.bindQPS }}
    - --bind-burst={{ .root.Values.bridge.bindBurst }}
    - --profiling={{ .root.Values.bridge.profiling }}
    - --v={{ .root.Values.bridge.logLevel }}
    {{- if eq (include "sluice.pair" .root) "standby" }}
    - --standby
    # A standby looks at the lease so often.
    - --leader-elect-retry-period=750ms
    {{- end }}
    {{- if include "sluice.bridgeSecret" .root }}
    - --daemon-tls-directory=/etc/sluice/tls
    {{- with .root.Values.tls.serverName }}
    - --daemon-tls-server-name={{ . }}
    {{- end }}
    {{- end }}
    {{- range .root.Values.bridge.flags }}
    - {{ . | quote }}
    {{- end }}
  env:
    - name: POD_NAMESPACE
      valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
    - name: POD_NAME
      valueFrom: {fieldRef: {fieldPath: metadata.name}}
    {{- with .root.Values.bridge.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    - {name: http, containerPort: 9092}
  livenessProbe:
    httpGet: {path: /healthz, port: http}
    periodSeconds: 10
    timeoutSeconds: 5
  readinessProbe:
    httpGet: {path: /readyz, port: http}
    periodSeconds: 5
  resources: {{- toYaml .root.Values.bridge.resources | nindent 4 }}
  securityContext: {{- include "sluice.containerSecurity" .root | nindent 4 }}
  {{- if include "sluice.bridgeSecret" .root }}
  volumeMounts:
    - {name: tls, mountPath: /etc/sluice/tls, readOnly: true}
  {{- end }}
{{- end -}}

{{/* The name of what runs on the node in the list's second place; a label, too. */}}
{{- define "sluice.pinned" -}}
{{- $name := printf "%s-pinned-%s" (include "sluice.fullname" (index . 0)) (index . 1) -}}
{{- if gt (len $name) 63 -}}
{{- $name = printf "%s-%s" (trunc 54 $name | trimAll "-.") (sha256sum $name | trunc 8) -}}
{{- end -}}
{{- $name -}}
{{- end -}}
