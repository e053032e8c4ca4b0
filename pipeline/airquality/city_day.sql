-- Indian days of cities: the last hour of the day that has an AQI stands for
-- the day, because its 24 hours reach furthest into it.
-- Parameters: from and to, the first and last hour that changed; stations, whose cities are wanted.
INSERT INTO {{.Database}}.city_day
(
    city, state, day, at,
    {{range .Pollutants}}{{.}}, {{end}}
    {{range .Pollutants}}{{.}}_index, {{end}}
    aqi, dominant, stations_used, stations_total, derived, daily_mean, updated, computed_at
)
SELECT city, state, toDate(at + {{.IndiaSeconds}} - 1) AS day, at,
    {{range .Pollutants}}{{.}}, {{end}}
    {{range .Pollutants}}{{.}}_index, {{end}}
    aqi, dominant, stations_used, stations_total, derived, daily_mean, updated, {computed:DateTime64(3, 'UTC')}
FROM {{.Database}}.city_hour FINAL
WHERE at > toDateTime(toDate({from:DateTime('UTC')} + {{.IndiaSeconds}} - 1), 'UTC') - {{.IndiaSeconds}}
    AND at <= toDateTime(toDate({to:DateTime('UTC')} + {{.IndiaSeconds}} - 1), 'UTC') - {{.IndiaSeconds}} + 86400
    AND (city, state) IN (SELECT city, state FROM {{.Database}}.station FINAL WHERE id IN {stations:Array(String)})
ORDER BY city, state, day, at DESC
LIMIT 1 BY city, state, day
{{.Settings}}
