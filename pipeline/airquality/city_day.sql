-- Computes the Indian days of cities. The last hour represents the day, because its 24 hours
-- cover most of it. An hour qualifies if it has at least half of the stations of the
-- city's previous hour within 24 hours. If no hour qualifies, the last one is used.
-- Hours with stations take precedence over hours of city mean series only.
-- Parameters: from and to, the first and last changed hour; stations, whose cities are computed; cities, more of them.
-- A changed hour can decide whether one of the next 24 hours qualifies, so the day of these hours is computed, too.
INSERT INTO {{.Database}}.city_day
(
    city, state, day, at,
    {{range .Pollutants}}{{.}}, {{end}}
    {{range .Pollutants}}{{.}}_index, {{end}}
    aqi, dominant, stations_used, stations_total, derived, daily_mean, updated, computed_at
)
WITH
toDateTime(toDate({from:DateTime('UTC')} + {{.IndiaSeconds}} - 1), 'UTC') - {{.IndiaSeconds}} AS begin,
toDateTime(toDate({to:DateTime('UTC')} + {{.IndiaSeconds}} - 1), 'UTC') - {{.IndiaSeconds}} + 2 * 86400 AS end,
place AS
(
    {{.Place}}
),
present AS
(
    SELECT place.city AS city, place.state AS state, hour.at AS at,
        max(NOT place.is_mean) AS has_station,
        groupUniqArrayIf(cityHash64(place.physical), NOT place.is_mean) AS ids
    FROM {{.Database}}.station_hour AS hour FINAL
    INNER JOIN place ON place.id = hour.station
    WHERE hour.at > begin - 86400 AND hour.at <= end
        AND hour.station IN (SELECT id FROM place) AND isNotNull(hour.aqi)
    GROUP BY city, state, at
),
compared AS
(
    SELECT city, state, at, has_station, ids,
        lagInFrame(at) OVER earlier AS before_at, lagInFrame(ids) OVER earlier AS before_ids
    FROM present
    WINDOW earlier AS (PARTITION BY city, state, has_station ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
chosen AS
(
    SELECT city, state, toDate(at + {{.IndiaSeconds}} - 1) AS day,
        argMax(at, (has_station, before_at < at - 86400 OR 2 * length(arrayIntersect(ids, before_ids)) >= length(before_ids), at)) AS last
    FROM compared
    WHERE at > begin
    GROUP BY city, state, day
)
SELECT figures.city, figures.state, chosen.day, figures.at,
    {{range .Pollutants}}figures.{{.}}, {{end}}
    {{range .Pollutants}}figures.{{.}}_index, {{end}}
    figures.aqi, figures.dominant, figures.stations_used, figures.stations_total, figures.derived, figures.daily_mean, figures.updated, {computed:DateTime64(3, 'UTC')}
FROM {{.Database}}.city_hour AS figures FINAL
INNER JOIN chosen ON chosen.city = figures.city AND chosen.state = figures.state AND chosen.last = figures.at
WHERE figures.at > begin AND figures.at <= end
{{.Settings}}
