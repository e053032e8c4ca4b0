-- The readings of each hour, to find hours with fewer than usual, and the stations of rejected values.
{{define "hours"}}
    ADD COLUMN IF NOT EXISTS hours Map(DateTime('UTC'), UInt32) COMMENT 'stored readings by the end of their hour, UTC; hours are those of an Indian clock, so they end at hh:30; only hours of the last 8 days' AFTER units;
{{- end -}}
{{define "station"}}
    ADD COLUMN IF NOT EXISTS station String COMMENT 'station.id of the value; empty if its record was rejected before the station was known' AFTER field;
{{- end -}}
ALTER TABLE {{.Database}}.{{local "source_run"}} {{.OnCluster}}{{template "hours"}}
ALTER TABLE {{.Database}}.{{local "rejected"}} {{.OnCluster}}{{template "station"}}
{{if .OnCluster -}}
ALTER TABLE {{.Database}}.source_run {{.OnCluster}}{{template "hours"}}
ALTER TABLE {{.Database}}.rejected {{.OnCluster}}{{template "station"}}
{{end -}}
