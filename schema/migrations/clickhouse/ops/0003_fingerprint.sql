-- Of what the records of a run consist, to detect a changed source.
{{define "columns"}}
    ADD COLUMN IF NOT EXISTS config_sha256 String COMMENT 'SHA-256 of the configuration of the source, hexadecimal: of the file for a description; empty for an import' AFTER rejected,
    ADD COLUMN IF NOT EXISTS fingerprint String COMMENT 'identifies the names in fields and all of units; empty without fields' AFTER config_sha256,
    ADD COLUMN IF NOT EXISTS fields Map(LowCardinality(String), LowCardinality(String)) COMMENT 'types of each field or column of the records: text, number, bool, list or object, joined by |; empty for a field that was always null; at most 500 fields, from a sample of the records' AFTER fingerprint,
    ADD COLUMN IF NOT EXISTS units Map(LowCardinality(String), Array(LowCardinality(String))) COMMENT 'units that the records state for each parameter, as the source spells them' AFTER fields;
{{- end -}}
ALTER TABLE {{.Database}}.{{local "source_run"}} {{.OnCluster}}{{template "columns"}}
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.source_run {{.OnCluster}}{{template "columns"}}
{{end -}}
