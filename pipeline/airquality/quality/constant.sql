-- Flags readings whose values are nearly constant in the 24 hours up to the hour of the reading.
{{template "insert" .}}
{{if .Short -}}
-- For short spans, each reading is added to the sums of all hours for which it counts, at most 24.
counted AS
(
    SELECT station, parameter, averaging, value, toUInt32({{.HourOf}}) AS own,
        arrayJoin(range(greatest(own, toUInt32({{.FirstHour}})), least(own + 82800, toUInt32({{.LastHour}} + INTERVAL 23 HOUR), (
            SELECT toUInt32({{.HourOfLast}}) FROM {{.Database}}.reading
            WHERE station IN {stations:Array(String)} AND at > {{.FirstHour}} - INTERVAL 1 HOUR AND at <= {{.LastHour}} + INTERVAL 23 HOUR)) + 1, 3600)) AS judged
    FROM {{.Database}}.reading FINAL
    WHERE kind = 'concentration' AND averaging <= 60 AND parameter IN ({{.LimitNames}})
        AND station IN {stations:Array(String)}
        AND at > {{.FirstHour}} - INTERVAL 24 HOUR AND at <= {{.LastHour}} + INTERVAL 23 HOUR
),
days AS
(
    SELECT station, parameter, averaging, toDateTime(judged, 'UTC') AS hour,
        bitCount(groupBitOr(bitShiftLeft(toUInt32(1), intDiv(judged - own, 3600)))) AS covered,
        avg(value) AS mean, sqrt(greatest(avg(value * value) - mean * mean, 0)) AS deviation
    FROM counted
    GROUP BY station, parameter, averaging, judged
),
{{- else -}}
hours AS
(
    SELECT station, parameter, averaging, {{.HourOf}} AS hour, sum(value) AS sum1, sum(value * value) AS sum2, count() AS number
    FROM {{.Database}}.reading FINAL
    WHERE kind = 'concentration' AND averaging <= 60 AND parameter IN ({{.LimitNames}})
        AND station IN {stations:Array(String)}
        AND at > {{.FirstHour}} - INTERVAL 24 HOUR AND at <= {{.LastHour}} + INTERVAL 23 HOUR
    GROUP BY station, parameter, averaging, hour
),
days AS
(
    SELECT station, parameter, averaging, hour, count() OVER day AS covered,
        sum(sum1) OVER day / sum(number) OVER day AS mean,
        sqrt(greatest(sum(sum2) OVER day / sum(number) OVER day - mean * mean, 0)) AS deviation
    FROM hours
    WINDOW day AS (PARTITION BY station, parameter, averaging ORDER BY toUInt32(hour) RANGE BETWEEN 82800 PRECEDING AND CURRENT ROW)
),
{{- end}}
alike AS
(
    SELECT station, parameter, averaging, hour
    FROM days
    WHERE covered >= {{.VariationHours}} AND deviation < {{.Variation}} * mean AND hour >= {{.FirstHour}}
),
found AS
(
    SELECT r.station AS station, r.parameter AS parameter, r.at AS at, 'concentration' AS kind, r.averaging AS averaging, r.source AS source,
        'near_constant' AS test, 'suspect' AS flag, '24 hours with a variation below {{.Variation}}' AS detail
    FROM
    (
        SELECT station, parameter, averaging, at, source, {{.HourOf}} AS hour
        FROM {{.Database}}.reading FINAL
        WHERE kind = 'concentration' AND averaging <= 60 AND parameter IN ({{.LimitNames}})
            AND station IN {stations:Array(String)}
            AND at > {{.FirstHour}} - INTERVAL 1 HOUR AND at <= {{.LastHour}} + INTERVAL 23 HOUR
    ) AS r
    INNER JOIN alike ON alike.station = r.station AND alike.parameter = r.parameter AND alike.averaging = r.averaging AND alike.hour = r.hour
),
{{template "changes" .}}
