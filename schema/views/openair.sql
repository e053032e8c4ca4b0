CREATE OR REPLACE VIEW {{.Database}}.openair {{.OnCluster}}
(
    date DateTime('Asia/Kolkata') COMMENT 'begin of the hour, Indian time',
    {{- template "station columns" .}}
{{- range $i, $w := .Wide}}
    {{$w.Column}} Nullable(Float64) COMMENT '{{$w.Name}}, {{$w.Unit}}, {{if eq $w.Column "rain"}}amount{{else}}mean{{end}} of the hour as measured{{if eq $w.Column "wd"}}, from north, of unit vectors{{end}}'{{if lt $i (lastOf $.Wide)}},{{end}}
{{- end}}
)
AS
WITH days AS
(
    -- The parameters of a day side by side. Each has one row of a day, whose hours groupArrayArray returns faster than any does.
    SELECT station, day, groupBitOr(present) AS any_present,
        {{- range $i, $w := .Wide}}
        anyIf(present, parameter = '{{.Parameter}}') AS {{.Column}}_present, groupArrayArrayIf(hours, parameter = '{{.Parameter}}') AS {{.Column}}_hours{{if lt $i (lastOf $.Wide)}},{{end}}
        {{- end}}
    FROM
    (
        SELECT station, day, parameter, present, hours
        FROM ({{template "facts" .}}
        )
        WHERE present != 0
    )
    GROUP BY station, day
)
SELECT toDateTime(day, 'Asia/Kolkata') + 3600 * clock AS date, station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind,
    {{- range $i, $w := .Wide}}
    if(bitTest({{$w.Column}}_present, clock), {{$w.Column}}_hours[bitCount(bitAnd({{$w.Column}}_present, bitShiftLeft(toUInt32(1), clock) - 1)) + 1], NULL) AS {{$w.Column}}{{if lt $i (lastOf $.Wide)}},{{end}}
    {{- end}}
FROM days {{template "place" .}}
ARRAY JOIN bitPositionsToArray(any_present) AS clock
COMMENT 'Hourly means, wide, with the names that the R package openair expects. One row per physical station and hour that has any mean.'
