-- Computes the hours of cities from the hours of their stations: the AQI of a city is the
-- mean of the AQIs of its stations of the configured kinds.
-- Parameters: from and to, the first and last hour; stations, whose cities are computed; cities, more of them.
INSERT INTO {{.Database}}.city_hour
(
    city, state, at,
    {{range .Pollutants}}{{.}}, {{end}}
    {{range .Pollutants}}{{.}}_index, {{end}}
    aqi, dominant, stations_used, stations_total, derived, daily_mean, updated, computed_at
)
WITH
place AS
(
    {{.Place}}
),
measured AS
(
    -- Hours of cities with a city mean series and a station with an AQI: there the
    -- mean of stations does not count as another station.
    SELECT place.city AS city, place.state AS state, hour.at AS at
    FROM {{.Database}}.station_hour AS hour FINAL
    INNER JOIN place ON place.id = hour.station
    WHERE hour.at >= {from:DateTime('UTC')} AND hour.at <= {to:DateTime('UTC')}
        AND NOT place.is_mean AND isNotNull(hour.aqi)
        AND hour.station IN (SELECT id FROM place WHERE (city, state) IN (SELECT city, state FROM place WHERE is_mean))
),
repeated AS
(
    -- Surplus hours of physical stations with several ids. An hour with an AQI is preferred,
    -- then the highest priority, then the latest update.
    SELECT hour.station AS station, hour.at AS at
    FROM {{.Database}}.station_hour AS hour FINAL
    INNER JOIN place ON place.id = hour.station
    WHERE hour.at >= {from:DateTime('UTC')} AND hour.at <= {to:DateTime('UTC')}
        AND hour.station IN (SELECT id FROM place WHERE (city, state, physical) IN
            (SELECT city, state, physical FROM place GROUP BY city, state, physical HAVING count() > 1))
    ORDER BY isNotNull(hour.aqi) DESC, place.priority DESC, hour.updated DESC, hour.station
    LIMIT 1, 1000 BY place.city, place.state, place.physical, hour.at
),
figures AS
(
    SELECT place.city AS city, place.state AS state, hour.at AS at,
        {{range .Pollutants -}}
        {{four (printf "avg(hour.%s)" .)}} AS {{.}},
        sumOrNullIf(hour.{{.}}_index, isNotNull(hour.aqi)) AS {{.}}_sum,
        nullIf(countIf(isNotNull(hour.{{.}}_index) AND isNotNull(hour.aqi)), 0) AS {{.}}_count,
        countIf(hour.dominant = '{{.}}') AS {{.}}_led,
        {{end -}}
        sum(hour.aqi) AS aqi_sum, count(hour.aqi) AS used, count() AS total,
        groupBitOr(hour.derived) AS derived, groupBitOr(hour.daily_mean) AS daily_mean,
        max(hour.updated) AS updated
    FROM {{.Database}}.station_hour AS hour FINAL
    INNER JOIN place ON place.id = hour.station
    WHERE hour.at >= {from:DateTime('UTC')} AND hour.at <= {to:DateTime('UTC')}
        AND hour.station IN (SELECT id FROM place)
        AND (NOT place.is_mean OR (place.city, place.state, hour.at) NOT IN (SELECT city, state, at FROM measured))
        AND (hour.station, hour.at) NOT IN (SELECT station, at FROM repeated)
    GROUP BY city, state, at
    HAVING used > 0
)
-- Of equal means the pollutant that is dominant at more stations wins.
SELECT city, state, at,
    {{range .Pollutants}}{{.}}, {{end}}
    {{range .Pollutants}}toUInt16(intDiv(2 * {{.}}_sum + {{.}}_count, 2 * {{.}}_count)), {{end}}
    toUInt16(intDiv(2 * aqi_sum + used, 2 * used)),
    CAST(toInt8([{{range $i, $p := .Precedence}}{{if $i}}, {{end}}{{number $p}}{{end}}][indexOf([{{range $i, $p := .Precedence}}{{if $i}}, {{end}}ifNull({{$p}}_sum / {{$p}}_count, -1) + {{$p}}_led / 10000000{{end}}] AS means, arrayMax(means))]), '{{.DominantEnum}}'),
    used, total, derived, daily_mean, updated, {computed:DateTime64(3, 'UTC')}
FROM figures
{{.Settings}}
