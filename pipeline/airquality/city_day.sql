-- Indian days of cities. The last hour of the day stands for it, because its 24
-- hours reach furthest into it. An hour counts when at least half of the stations
-- of the city's hour before, within 24 hours, are in it; if none does, the last one
-- stands. An hour that only a series averaged by its source has never beats an hour
-- with stations.
-- Parameters: from and to, the first and last hour that changed; stations, whose cities are wanted; cities, which are wanted beside
-- those. A changed hour can decide whether one of the next 24 hours counts, so their day is computed too.
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
