    -- Means of PM2.5 of hours at public stations, and of cities as the mean of their reference stations. A series that its
    -- source averaged over a city replaces missing stations.
    SELECT 'station' AS place_kind, toString(station) AS place, '' AS state, at, assumeNotNull(mean) AS value
    FROM {{.Database}}.station_parameter_hour FINAL
    WHERE parameter = 'pm25' AND kind = 'concentration' AND mean > 0 AND mean < {{.Largest}} AND at > {from:DateTime('UTC')} AND at <= {base:DateTime('UTC')}
        AND station IN (SELECT id FROM {{.Database}}.station FINAL)
    UNION ALL
    SELECT 'city' AS place_kind, city AS place, state, at, if(countIf(reference) > 0, avgIf(value, reference), avg(value)) AS value
    FROM
    (
        SELECT described.city AS city, described.state AS state, described.physical AS physical, described.kind = 'reference' AS reference, at, avg(assumeNotNull(mean)) AS value
        FROM {{.Database}}.station_parameter_hour AS hour FINAL
        INNER JOIN
        (
            SELECT id, toString(city) AS city, toString(state) AS state, kind, if(same_as = '', id, same_as) AS physical FROM {{.Database}}.station FINAL WHERE city != '' AND kind != 'sensor'
        ) AS described ON described.id = hour.station
        WHERE parameter = 'pm25' AND hour.kind = 'concentration' AND mean > 0 AND mean < {{.Largest}} AND at > {from:DateTime('UTC')} AND at <= {base:DateTime('UTC')}
        GROUP BY city, state, physical, reference, at
    )
    GROUP BY city, state, at
