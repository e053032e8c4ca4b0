CREATE OR REPLACE VIEW {{.Database}}.openair {{.OnCluster}}
(
    date DateTime('Asia/Kolkata') COMMENT 'begin of the hour, Indian time',
    {{- template "station columns" .}}
{{- range $i, $w := .Wide}}
    {{$w.Column}} Nullable(Float64) COMMENT '{{$w.Name}}, {{$w.Unit}}, mean of the hour as measured{{if eq $w.Column "wd"}}, from north, of unit vectors{{end}}'{{if lt $i (lastOf $.Wide)}},{{end}}
{{- end}}
)
AS
WITH days AS
(
    SELECT station, day,
        {{- range .Wide}}
        anyIf(hours, parameter = '{{.Parameter}}') AS {{.Column}}_hours,
        {{- end}}
        groupBitOr(arraySum(arrayMap((x, n) -> if(isNull(x), 0, bitShiftLeft(toUInt32(1), n)), hours, range(length(hours))))) AS present
    FROM {{.Database}}.station_parameter_day FINAL
    WHERE notEmpty(hours)
    GROUP BY station, day
)
SELECT toDateTime(day, 'Asia/Kolkata') + 3600 * clock AS date, station, place.name AS name, place.city AS city, place.state AS state, place.kind AS kind,
    {{- range $i, $w := .Wide}}
    {{$w.Column}}_hours[clock + 1] AS {{$w.Column}}{{if lt $i (lastOf $.Wide)}},{{end}}
    {{- end}}
FROM days {{template "place" .}}
ARRAY JOIN bitPositionsToArray(present) AS clock
COMMENT 'Hourly means, wide, with the names that the R package openair expects. One row per station and hour that has any mean.'
