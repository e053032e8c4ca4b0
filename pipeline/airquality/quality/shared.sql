{{define "insert" -}}
INSERT INTO {{.Database}}.reading_quality (station, parameter, at, kind, averaging, test, version, flag, detail, computed_at, removed)
WITH
{{- end}}

{{define "changes" -}}
-- Compares the new results with the stored ones, and writes only the differences.
both AS
(
    SELECT station, parameter, at, kind, averaging, toString(test) AS test,
        toUInt16(transform(test, [{{.TestNames}}], [{{.Versions}}], 0)) AS version, toString(flag) AS flag, detail,
        1 AS now, toDateTime64(0, 3, 'UTC') AS computed
    FROM (SELECT station, toString(parameter) AS parameter, at, toString(kind) AS kind, averaging, test, flag, detail FROM found WHERE {{.Applies}})
    UNION ALL
    SELECT station, toString(parameter), at, toString(kind), averaging, toString(test), version, toString(flag), detail, 0, computed_at
    FROM {{.Database}}.reading_quality FINAL
    WHERE test IN ({{.TestNames}}) AND station IN {{.Among}} AND {{.Span}}
)
SELECT station, parameter, at, kind, averaging, test, argMax(version, now), argMax(flag, now), argMax(detail, now),
    greatest(now64(3), max(computed) + toIntervalMillisecond(1)), max(now) = 0
FROM both
GROUP BY station, parameter, at, kind, averaging, test
HAVING max(now) = 0 OR min(now) = 1 OR uniqExact(version, flag, detail) > 1
{{.Settings}}
{{- end}}

{{define "counts" -}}
-- The condition that a reading is not withdrawn.
NOT arrayExists(w -> w.1 = station AND w.2 IN ('', parameter) AND at > w.3 AND at <= w.4,
            (SELECT groupArray((toString(station), toString(parameter), from_at, to_at)) FROM {{.Database}}.withdrawal FINAL))
{{- end}}
