    -- Days of cities and stations that are complete. The day of a station is the hour that ends at midnight, whose 24 hours are
    -- the day. The day of a city must be complete to within six hours. A station of an account has hours, and no row of station:
    -- it stays out.
    SELECT 'city' AS place_kind, city AS place, state, day, toNullable(aqi) AS index, [{{range $i, $p := .Parameters}}{{if $i}}, {{end}}{{$p}}{{end}}] AS amounts
    FROM {{.Database}}.city_day FINAL
    WHERE day BETWEEN {from:Date} AND {to:Date} AND at >= toDateTime(day, 'UTC') - {{.IndiaSeconds}} + 86400 - 6 * 3600
    UNION ALL
    SELECT 'station' AS place_kind, station AS place, '' AS state, toDate(at + {{.IndiaSeconds}} - 1) AS day, aqi AS index, [{{range $i, $p := .Parameters}}{{if $i}}, {{end}}{{$p}}{{end}}] AS amounts
    FROM {{.Database}}.station_hour FINAL
    WHERE station IN (SELECT id FROM {{.Database}}.station FINAL)
        AND at > toDateTime({from:Date}, 'UTC') - {{.IndiaSeconds}} AND at <= toDateTime({to:Date}, 'UTC') - {{.IndiaSeconds}} + 86400
        AND (toUnixTimestamp(at) + {{.IndiaSeconds}}) % 86400 = 0
