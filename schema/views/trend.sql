CREATE OR REPLACE VIEW {{.Database}}.trend {{.OnCluster}}
(
    {{- template "station columns" .}}{{template "parameter columns" .}}
    from_month Date COMMENT 'first month in the trend',
    to_month Date COMMENT 'last month in the trend',
    months UInt16 COMMENT 'months in the trend: all with at least {{percent .Capture}} % capture',
    slope Float64 COMMENT 'change, in unit per year: median of the slopes between equal months of different years (seasonal Theil-Sen)',
    lower Float64 COMMENT 'lower end of the 95 % confidence interval of slope, in unit per year',
    upper Float64 COMMENT 'upper end of the 95 % confidence interval of slope, in unit per year',
    p Float64 COMMENT 'p-value of the seasonal Kendall test, two-sided, 0-1: probability of such a series without a trend, if its months are independent; months that follow each other often resemble each other, and then p is too small',
    mean Float64 COMMENT 'mean of these months, in unit',
    percent_per_year Nullable(Float64) COMMENT '100 * slope / mean, per cent per year',
    {{- template "capture columns" .}}
)
AS
WITH seasons AS
(
    -- Values of one month of the year, by year.
    SELECT station, name, city, state, kind, parameter, unit,
        arraySort(groupArray((toYear(month), assumeNotNull(figures.mean)))) AS series,
        arrayMap(x -> x.2, series) AS sizes, length(series) AS n,
        arrayFlatten(arrayMap((x, i) -> arrayMap(y -> (y.2 - x.2) / (y.1 - x.1), arraySlice(series, i + 1)), series, arrayEnumerate(series))) AS slopes,
        arraySum(x -> sign(x), slopes) AS score,
        (n * (n - 1) * (2 * n + 5) - arraySum(arrayMap(v -> (countEqual(sizes, v) AS t) * (t - 1) * (2 * t + 5), arrayDistinct(sizes)))) AS variance,
        arrayMap(x -> x.1, series) AS years, min(month) AS first_month, max(month) AS last_month, sum(figures.hours) AS season_hours
    FROM {{.Database}}.monthly_statistics AS figures
    WHERE complete
    GROUP BY station, name, city, state, kind, parameter, unit, toMonth(month)
),
tests AS
(
    SELECT station, name, city, state, kind, parameter, unit,
        arraySort(groupArrayArray(slopes)) AS sorted, toFloat64(length(sorted)) AS pairs,
        sum(score) AS total, sum(variance) / 18 AS spread, sum(n) AS months, min(first_month) AS from_month, max(last_month) AS to_month, sum(season_hours) AS hours,
        toFloat64(sum({{template "exact" "arraySum(sizes)"}})) / months AS mean,
        -- Ranks of the ends of the interval, from 1, by Gilbert (1987), chapter 17.4.
        least(greatest((pairs - 1.959963984540054 * sqrt(spread)) / 2, 1), pairs) AS low, least(greatest((pairs + 1.959963984540054 * sqrt(spread)) / 2 + 1, 1), pairs) AS high
    FROM seasons
    GROUP BY station, name, city, state, kind, parameter, unit
    HAVING uniqExactArray(years) >= 3 AND pairs > 0
)
SELECT station, name, city, state, kind, parameter, unit, from_month, to_month, months,
    (sorted[toUInt32(floor((pairs + 1) / 2))] + sorted[toUInt32(ceil((pairs + 1) / 2))]) / 2 AS slope,
    sorted[toUInt32(floor(low))] + (low - floor(low)) * (sorted[toUInt32(ceil(low))] - sorted[toUInt32(floor(low))]) AS lower,
    sorted[toUInt32(floor(high))] + (high - floor(high)) * (sorted[toUInt32(ceil(high))] - sorted[toUInt32(floor(high))]) AS upper,
    if(spread > 0, erfc(greatest(abs(total) - 1, 0) / sqrt(2 * spread)), 1) AS p, mean, 100 * slope / nullIf(mean, 0) AS percent_per_year,
    hours, 24 * dateDiff('day', from_month, addMonths(to_month, 1)) AS {{template "capture" .}}
FROM tests
COMMENT 'Trends without the season. One row per station and parameter with complete months of at least three years.'
