-- Days of cities and stations, as one input of a fit, an issue or a replay.
-- known_at is when the last reading of the day was stored, or, as measured, the end of the day.
-- Parameters: input, the id of the input; from and to, the first and last day.
INSERT INTO {{.Database}}.forecast_input (input, place_kind, place, state, day, aqi, amounts, known_at)
WITH
days AS
(
{{.Days}}
)
{{- if .Ingested}},
stored AS
(
    -- A reading of the last seven hours of a day also enters the 8-hour means of the next day.
    SELECT station, arrayJoin(arrayDistinct([toDate(at + {{.IndiaSeconds}} - 1), toDate(at + {{.IndiaSeconds}} - 1 + 7 * 3600)])) AS day, max(ingested_at) AS known
    FROM {{.Database}}.reading
    WHERE at > toDateTime({from:Date}, 'UTC') - {{.IndiaSeconds}} - 7 * 3600 AND at <= toDateTime({to:Date}, 'UTC') - {{.IndiaSeconds}} + 86400
    GROUP BY station, day
),
known AS
(
    SELECT 'station' AS place_kind, toString(station) AS place, '' AS state, day, known FROM stored
    UNION ALL
    SELECT 'city' AS place_kind, toString(described.city) AS place, toString(described.state) AS state, stored.day AS day, max(stored.known) AS known
    FROM stored INNER JOIN (SELECT id, city, state FROM {{.Database}}.station FINAL) AS described ON described.id = stored.station
    GROUP BY place, state, day
)
SELECT {input:String}, place_kind, days.place, days.state, days.day, index, amounts, known.known
FROM days INNER JOIN known ON known.place_kind = days.place_kind AND known.place = days.place AND known.state = days.state AND known.day = days.day
{{- else}}
SELECT {input:String}, place_kind, place, state, day, index, amounts, toDateTime64(toDateTime(day, 'UTC') - {{.IndiaSeconds}} + 86400, 3, 'UTC')
FROM days
{{- end}}
{{.Settings}}
