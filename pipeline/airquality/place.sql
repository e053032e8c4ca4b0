-- Stations that count for the cities: stations of the configured kinds, and city mean
-- series, which replace missing stations. Ids of one physical station share column
-- physical. An alias has no hours of its own.
SELECT id, city, state, kind = 'city_mean' AS is_mean, if(same_as = '', id, same_as) AS physical, priority
FROM {{.Database}}.station FINAL
WHERE ((city, state) IN (SELECT city, state FROM {{.Database}}.station FINAL WHERE id IN {stations:Array(String)})
        OR has({cities:Array(Tuple(String, String))}, (toString(city), toString(state))))
    AND city != '' AND kind IN ({{.Kinds}}, 'city_mean')
    AND id NOT IN (SELECT alias FROM {{.Database}}.station_alias FINAL)
