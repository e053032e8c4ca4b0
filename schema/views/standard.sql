CREATE OR REPLACE VIEW {{.Database}}.standard {{.OnCluster}}
(
    standard LowCardinality(String) COMMENT 'naaqs_2009 or who_2021',
    parameter LowCardinality(String) COMMENT 'parameter.id',
    period LowCardinality(String) COMMENT 'averaging time of the limit: 1h, 8h, 24h or year',
    value Float64 COMMENT 'limit, in unit',
    unit LowCardinality(String) COMMENT 'unit of value',
    percentile Nullable(UInt8) COMMENT 'share of the times of a year that must meet the limit, per cent; NULL for the mean of a year',
    source String COMMENT 'document that sets the limit'
)
AS
SELECT fact.1 AS standard, fact.2 AS parameter, fact.3 AS period, fact.4 AS value, parameter_unit(parameter) AS unit,
    if(period = 'year', NULL, toUInt8(fact.5)) AS percentile, fact.6 AS source
FROM (SELECT arrayJoin([
{{- range $i, $l := .Limits}}{{if $i}},{{end}}
    ('{{$l.Standard}}', '{{$l.Parameter}}', '{{$l.Period}}', toFloat64({{$l.Value}}), {{$l.Percentile}}, '{{$l.Source}}')
{{- end}}]) AS fact)
COMMENT 'Limits of India''s NAAQS 2009 (industrial, residential, rural and other areas) and of the WHO guidelines 2021. One row per standard, parameter and period.'
