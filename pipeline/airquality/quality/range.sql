-- Tests each reading by itself, without other readings.
{{template "insert" .}}
found AS
(
    SELECT station, parameter, at, kind, averaging, source,
        tupleElement(result, 1) AS test, tupleElement(result, 2) AS flag, tupleElement(result, 3) AS detail
    FROM {{.Database}}.reading FINAL
    ARRAY JOIN arrayConcat(
        multiIf(
            kind = 'sub_index', if(value < 0 OR value > 500, [('gross_range', 'fail', toString(value))], []),
            {{range .Limits -}}
            parameter = {{.Name}}, multiIf(
                value < {{.Floor}} OR value > {{.Most}} OR isNaN(value), [('gross_range', 'fail', toString(value))],
                value < {{.Least}} OR value >= {{.Full}}, [('gross_range', 'suspect', toString(value))], []),
            {{end -}}
            []),
        if(at > ingested_at + INTERVAL {{.AheadMinutes}} MINUTE OR at < toDateTime('{{.FirstDay}}', 'UTC'),
            [('impossible_date', 'fail', concat('received ', toString(ingested_at)))], []),
        if(reading.flag != 'plain', [('source_flag', 'suspect', toString(reading.flag))], [])
    ) AS result
    WHERE station IN {stations:Array(String)} AND at >= {from:DateTime('UTC')} AND at <= {to:DateTime('UTC')}
        -- Most readings pass, so the query skips them before it makes the texts of results.
        AND (kind = 'sub_index' AND (value < 0 OR value > 500)
            OR kind != 'sub_index' AND (isNaN(value)
                OR value < transform(parameter, [{{.LimitNames}}], [{{range $i, $l := .Limits}}{{if $i}}, {{end}}{{$l.Least}}{{end}}], toFloat64(-inf))
                OR value >= transform(parameter, [{{.LimitNames}}], [{{range $i, $l := .Limits}}{{if $i}}, {{end}}{{$l.Full}}{{end}}], toFloat64(inf)))
            OR at > ingested_at + INTERVAL {{.AheadMinutes}} MINUTE OR at < toDateTime('{{.FirstDay}}', 'UTC')
            OR reading.flag != 'plain')
),
{{template "changes" .}}
