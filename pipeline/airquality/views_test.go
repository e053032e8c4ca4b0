package airquality

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/migrations/clickhouse"
	"vayu/schema/parameter"
	"vayu/schema/views"
)

// The views of schema/views, from readings on. They are tested here because they rest on the
// roll-up.

func indianDay(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, schema.India)
}

// series stores hourly readings from the start of a day. value gives the reading of hour n, 0 for
// the first, and whether there is one.
func (w *fixture) series(station string, p parameter.Parameter, from time.Time, hours int, value func(n int) (float64, bool)) {
	w.Helper()
	var all []air.Reading
	for n := range hours {
		if v, ok := value(n); ok {
			all = append(all, air.Reading{Station: station, Parameter: p, At: from.Add(time.Duration(n+1) * time.Hour).UTC(), Value: v})
		}
	}
	w.readings(all...)
}

// means stores published means of days. value gives the mean of day n, 0 for the first.
func (w *fixture) means(station string, p parameter.Parameter, from time.Time, days int, value func(n int) (float64, bool)) {
	w.Helper()
	var all []air.Reading
	for n := range days {
		if v, ok := value(n); ok {
			all = append(all, air.Reading{Station: station, Parameter: p, At: from.AddDate(0, 0, n+1).UTC(), Value: v, Averaging: air.Daily})
		}
	}
	w.readings(all...)
}

func (w *fixture) stationOf(kind, id, city, state string) {
	w.Helper()
	w.exec("INSERT INTO %s.station (id, name, city, state, kind) VALUES (?, ?, ?, ?, ?)", id, id+" name", city, state, kind)
}

// wantRows compares the rows of a view with their expected text.
func (w *fixture) wantRows(columns, from string, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.text("SELECT toString(tuple("+columns+")) FROM %s."+from)); diff != "" {
		w.Errorf("%s of %s (-want +got):\n%s", columns, from, diff)
	}
}

func constant(v float64) func(int) (float64, bool) {
	return func(int) (float64, bool) { return v, true }
}

func TestViewsOfHours(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	// Seven hours of the evening before are 80. The leap day is 10, with 40 at 12:00 and nothing at 23:00.
	w.series("a", parameter.PM25, indianDay(2024, 2, 28), 24, func(n int) (float64, bool) { return 80, n >= 17 })
	w.series("a", parameter.PM25, indianDay(2024, 2, 29), 23, func(n int) (float64, bool) { return map[bool]float64{true: 40, false: 10}[n == 12], true })
	w.series("a", mustParse(t, "wind_direction"), indianDay(2024, 2, 29), 2, func(n int) (float64, bool) { return float64(350 + 20*n%360), true })
	w.increment()
	w.wantRows("name, city, kind, unit, day, hours, valid, round(mean, 6), max_1h, round(max_8h, 6)", "daily WHERE parameter = 'pm25' ORDER BY day",
		"('a name','Pune','reference','µg/m³','2024-02-28',7,false,80,80,80)",
		"('a name','Pune','reference','µg/m³','2024-02-29',23,true,11.304348,40,71.25)")
	w.wantRows("toString(date), pm25, pm10, round(wd, 6)", "openair WHERE date >= '2024-02-28 23:00:00' ORDER BY date LIMIT 3",
		"('2024-02-28 23:00:00',80,NULL,NULL)", "('2024-02-29 00:00:00',10,NULL,350)", "('2024-02-29 01:00:00',10,NULL,10)")
	w.wantRows("count(), countIf(pm25 = 40), toString(max(date))", "openair", "(30,1,'2024-02-29 22:00:00')")
	w.wantRows("month, hours, days, expected_hours, round(mean, 6), median, minimum, maximum, max_8h, round(max_day, 6), complete", "monthly_statistics",
		"('2024-02-01',30,1,696,27.333333,10,10,80,80,11.304348,false)")
	w.wantRows("hour, mean, hours, expected_hours, complete", "diurnal WHERE hour IN (12, 17, 23) ORDER BY hour", "(12,40,1,366,false)", "(17,45,2,366,false)", "(23,80,1,366,false)")
	w.wantRows("weekday, round(mean, 6), hours, days, expected_hours / 24", "weekday ORDER BY weekday", "(3,80,7,0,52)", "(4,11.304348,23,1,52)")
}

func mustParse(t *testing.T, id string) parameter.Parameter {
	t.Helper()
	p, ok := parameter.Parse(id)
	if !ok {
		t.Fatalf("no parameter %q", id)
	}
	return p
}

// A revised reading counts once, a withdrawn one not at all.
func TestViewsFollowRevisionsAndWithdrawals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.exec("SYSTEM STOP MERGES %[1]s.station_parameter_day")
	w.series("a", parameter.PM25, indianDay(2024, 3, 1), 48, constant(50))
	w.increment()
	w.series("a", parameter.PM25, indianDay(2024, 3, 1), 24, constant(70))
	w.increment()
	w.wantRows("day, mean, hours", "daily ORDER BY day", "('2024-03-01',70,24)", "('2024-03-02',50,24)")
	w.wantRows("count(), sum(pm25)", "openair", "(48,2880)")
	w.wantRows("mean, hours, maximum", "annual_statistics", "(60,48,70)")

	// The views have one row per fact with any setting of the session.
	w.wantRows("count()", "daily SETTINGS final = 0", "(2)")

	if err := w.rollup.Withdraw(t.Context(), Withdrawal{ID: NewWithdrawalID(), Station: "a", From: indianDay(2024, 3, 1).UTC(), To: indianDay(2024, 3, 2).UTC(), Reason: "calibration", Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	w.increment()
	w.wantRows("day, mean, hours", "daily ORDER BY day", "('2024-03-02',50,24)")
	w.wantRows("count(), sum(pm25)", "openair", "(24,1200)")
	w.wantRows("mean, hours, maximum", "annual_statistics", "(50,24,50)")
	w.wantRows("hours, excluded", "data_capture", "(24,24)")
}

// Exceedances, counted by hand: a year of days of 50, with two of 61 in January, one of exactly 60
// and one of 100 of too few hours.
func TestExceedances(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.series("a", parameter.PM25, indianDay(2023, 1, 1), 365*24, func(n int) (float64, bool) {
		switch n / 24 {
		case 4, 5:
			return 61, true
		case 9:
			return 60, true
		case 20:
			return 100, n%24 < 15
		}
		return 50, true
	})
	w.increment()
	columns := "standard, period, value, evaluated, exceeded, successive, round(largest, 6), complies"
	// The mean: (8,751 * 50 + 48 * 11 + 24 * 10 + 15 * 50) / 8,751.
	w.wantRows(columns, "exceedance WHERE standard = 'naaqs_2009' ORDER BY period", "('naaqs_2009','24h',60,364,2,1,61,false)", "('naaqs_2009','year',40,1,1,0,50.173466,false)")
	w.wantRows(columns, "exceedance WHERE standard = 'who_2021' ORDER BY period", "('who_2021','24h',15,364,364,363,61,false)", "('who_2021','year',5,1,1,0,50.173466,false)")
}

// Two exceedances of 365 days comply if they are apart. Ozone has limits of an hour and of 8 hours.
func TestExceedancesOfHours(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.series("a", parameter.O3, indianDay(2023, 1, 1), 365*24, func(n int) (float64, bool) {
		switch {
		case n >= 2*24 && n < 2*24+8, n >= 4*24 && n < 4*24+8:
			return 190, true // 8 hours, on days apart
		case n >= 6*24+20 && n < 7*24+3:
			return 110, true // 7 hours over midnight: (7*110 + 20)/8 = 98.75
		}
		return 20, true
	})
	w.increment()
	w.wantRows("standard, period, value, evaluated, exceeded, successive, largest, complies", "exceedance ORDER BY standard, period",
		"('naaqs_2009','1h',180,8760,16,0,190,true)", "('naaqs_2009','8h',100,365,2,0,190,true)", "('who_2021','8h',100,365,2,0,190,true)")
}

// NAAQS 2009: 2 % of the times of a year may exceed a limit of an hour, but not on two consecutive days of monitoring.
// 190 µg/m³ of ozone exceed the limit of an hour, and 8 such hours that of 8 hours.
func TestConsecutiveDaysOfAnHour(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for station, c := range map[string]struct {
		above map[int]bool // hours of the year
		none  int          // day without hours
	}{
		"two hours of a day":          {map[int]bool{240: true, 250: true}, -1},
		"days after each other":       {map[int]bool{240: true, 270: true}, -1},
		"three days after each other": {map[int]bool{240: true, 270: true, 290: true}, -1},
		"days apart":                  {map[int]bool{240: true, 290: true}, -1},
		"no monitoring between":       {map[int]bool{240: true, 290: true}, 11},
	} {
		w.stationOf("reference", station, "Pune", "Maharashtra")
		w.series(station, parameter.O3, indianDay(2023, 1, 1), 365*24, func(n int) (float64, bool) {
			return map[bool]float64{true: 190, false: 20}[c.above[n]], n/24 != c.none
		})
	}
	w.increment()
	w.wantRows("station, evaluated, exceeded, successive, complies", "exceedance WHERE period = '1h' ORDER BY station",
		"('days after each other',8760,2,1,false)", "('days apart',8760,2,0,true)", "('no monitoring between',8736,2,1,false)",
		"('three days after each other',8760,3,2,false)", "('two hours of a day',8760,2,0,true)")
	w.wantRows("sum(exceeded), countIf(complies)", "exceedance WHERE period = '8h' AND standard = 'naaqs_2009'", "(0,5)")
}

// Published means make a year complete. The few measured hours beside them are no basis for percentiles, 8-hour means and limits of hours.
func TestFiguresOfFewMeasuredHours(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.stationOf("reference", "b", "Pune", "Maharashtra")
	// 300 days of means, then 20 days of hours at a; 80 days of means and 280 of hours at b. On day 0 each has five hours and a mean.
	for station, days := range map[string][2]int{"a": {300, 320}, "b": {80, 360}} {
		w.means(station, parameter.O3, indianDay(2023, 1, 1), days[0], constant(30))
		w.series(station, parameter.O3, indianDay(2023, 1, 1), days[1]*24, func(n int) (float64, bool) { return 50, n < 5 || n >= days[0]*24 })
	}
	w.increment()
	w.wantRows("station, round(mean, 6), hours, measured_hours, complete, median, maximum, max_8h, max_day", "annual_statistics ORDER BY station",
		"('a',31.25,7680,485,true,NULL,NULL,NULL,50)", "('b',45.555556,8640,6725,true,50,50,50,50)")
	w.wantRows("station, period, evaluated, measured_hours, complete, complies", "exceedance WHERE standard = 'naaqs_2009' ORDER BY station, period",
		"('a','1h',485,485,true,NULL)", "('a','8h',20,485,true,NULL)", "('b','1h',6725,6725,true,true)", "('b','8h',280,6725,true,true)")
	w.wantRows("day, mean, hours, measured_hours, published, max_1h, max_8h", "daily WHERE station = 'a' AND day < '2023-01-03' ORDER BY day",
		"('2023-01-01',30,24,5,true,NULL,NULL)", "('2023-01-02',30,24,0,true,NULL,NULL)")
	w.wantRows("month, hours, measured_hours", "data_capture WHERE station = 'a' AND month IN ('2023-01-01', '2023-11-01') ORDER BY month", "('2023-01-01',744,5)", "('2023-11-01',384,384)")
	// A row that is not complete is marked, and keeps its figures.
	w.wantRows("complete, median", "monthly_statistics WHERE station = 'a' AND month = '2023-11-01'", "(false,50)")
}

// Rain of 15 minutes adds up to that of its hour. A missing quarter has the mean of the others, and an amount of a day is shared by its hours.
func TestRainOfAnHour(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	rain, day := mustParse(t, "rain"), indianDay(2024, 7, 1)
	var all []air.Reading
	for i, v := range []float64{1, 2, 0, 1, 3, 0, 3} { // the second hour lacks its last quarter
		all = append(all, air.Reading{Station: "a", Parameter: rain, At: day.Add(time.Duration(i+1) * 15 * time.Minute).UTC(), Value: v, Averaging: 15})
	}
	all = append(all, air.Reading{Station: "a", Parameter: rain, At: day.Add(3 * time.Hour).UTC(), Value: 5, Averaging: air.Hourly})
	w.readings(all...)
	w.means("a", rain, indianDay(2024, 7, 2), 1, constant(48))
	w.increment()
	w.wantRows("toString(date), rain", "openair ORDER BY date", "('2024-07-01 00:00:00',4)", "('2024-07-01 01:00:00',8)", "('2024-07-01 02:00:00',5)")
	w.wantRows("day, round(mean * hours, 6), max_1h", "daily ORDER BY day", "('2024-07-01',17,8)", "('2024-07-02',48,NULL)")
}

// The mean of directions is of unit vectors, and a largest direction has no meaning.
func TestDirectionsHaveNoMaximum(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.series("a", mustParse(t, "wind_direction"), indianDay(2024, 2, 29), 24, func(n int) (float64, bool) { return float64(350 + 20*(n%2)), true })
	w.increment()
	w.wantRows("round(least(mean, 360 - mean), 6), max_1h, max_8h", "daily", "(0,NULL,NULL)")
}

// Seasons end at an Indian midnight. Means below 75 % capture are marked, and no rule is applied to them.
func TestSeasonsAndLowCapture(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.series("a", parameter.PM25, indianDay(2024, 2, 29), 48, func(n int) (float64, bool) { return map[bool]float64{true: 10, false: 30}[n < 24], true })
	w.series("a", parameter.PM25, indianDay(2024, 6, 1), 122*24, func(n int) (float64, bool) { return 40, n < 2196 }) // 75 % of 2,928 hours
	w.series("a", parameter.PM25, indianDay(2024, 10, 1), 92*24, func(n int) (float64, bool) { return 40, n < 1655 }) // an hour less than 75 %
	w.increment()
	w.wantRows("season, mean, hours, expected_hours, capture, complete", "season ORDER BY expected_hours, season",
		"('winter',10,24,1440,0.016666666666666666,false)", "('post-monsoon',40,1655,2208,0.7495471014492754,false)",
		"('pre-monsoon',30,24,2208,0.010869565217391304,false)", "('monsoon',40,2196,2928,0.75,true)")
	w.wantRows("year, hours, expected_hours, complete", "annual_statistics", "(2024,3899,8784,false)")
	w.wantRows("count(), countIf(isNotNull(complies))", "exceedance", "(4,0)")
	w.wantRows("count()", "ranking", "(0)")
}

// A physical station with two ids counts once in every view, under the id of the preferred network. Each day is that of the id
// with a valid measured mean, then of the preferred network. Without a valid mean it is that of the id with the most hours.
func TestStationsWithSeveralIDs(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.exec("INSERT INTO %s.station (id, name, city, state, kind, same_as) VALUES ('copy', 'copy', 'Pune', 'Maharashtra', 'reference', 'a')")
	w.stationOf("reference", "b", "Pune", "Maharashtra")
	first := indianDay(2024, 3, 1)
	// Days of 24, 10, 0 and 3 hours, and of 24, 24, 24 and 15 hours.
	w.series("a", parameter.PM25, first, 75, func(n int) (float64, bool) { return 10, n < 24+10 || n >= 72 })
	w.series("copy", parameter.PM25, first, 72+15, constant(20))
	w.series("copy", parameter.O3, first, 24, constant(30))                                       // only the copy measures O3
	w.means("a", parameter.NO2, first, 1, constant(40))                                           // a published mean
	w.series("copy", parameter.NO2, first, 24, func(n int) (float64, bool) { return 50, n < 20 }) // and measured hours
	w.series("b", parameter.PM25, first, 24, constant(70))
	w.increment()
	w.wantRows("station, parameter, day, mean, hours", "daily ORDER BY parameter, station, day",
		"('a','no2','2024-03-01',50,20)", "('a','o3','2024-03-01',30,24)",
		"('a','pm25','2024-03-01',10,24)", "('a','pm25','2024-03-02',20,24)", "('a','pm25','2024-03-03',20,24)", "('a','pm25','2024-03-04',20,15)", "('b','pm25','2024-03-01',70,24)")
	w.wantRows("station, count(), sum(pm25), sum(o3), sum(no2)", "openair GROUP BY station ORDER BY station", "('a',87,1500,720,1000)", "('b',24,1680,NULL,NULL)")
	w.wantRows("station, mean, hours, maximum", "annual_statistics WHERE parameter = 'pm25' ORDER BY station", "('a',17.24137931034483,87,20)", "('b',70,24,70)")
	w.wantRows("avg(mean)", "diurnal WHERE parameter = 'pm25' AND hour = 12 AND city = 'Pune'", "(43.75)")
	w.wantRows("station, count()", "openair WHERE city = 'Pune' GROUP BY station ORDER BY station", "('a',87)", "('b',24)")
	for _, view := range []string{"daily", "openair", "data_capture", "monthly_statistics", "annual_statistics", "season", "weekday", "diurnal", "exceedance"} {
		w.wantRows("countIf(station = 'copy'), countIf(station = 'a') > 0", view, "(0,1)")
		w.wantRows("count()", view+" WHERE station = 'copy'", "(0)")
	}
}

// Low-cost sensors do not count, nor does the second id of a station. A city without a reference station
// has the series of its city mean.
func TestRanking(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.stationOf("reference", "b", "Pune", "Maharashtra")
	w.exec("INSERT INTO %s.station (id, city, state, kind, same_as) VALUES ('b2', 'Pune', 'Maharashtra', 'reference', 'b')")
	w.stationOf("sensor", "c", "Pune", "Maharashtra")
	w.stationOf("city_mean", "d", "Pune", "Maharashtra")
	w.stationOf("city_mean", "e", "Delhi", "Delhi")
	w.stationOf("sensor", "f", "Agra", "Uttar Pradesh")
	for station, v := range map[string]float64{"a": 20, "b": 40, "b2": 90, "c": 100, "d": 100, "e": 120, "f": 500} {
		w.means(station, parameter.PM25, indianDay(2023, 1, 1), 365, func(n int) (float64, bool) { return v, station != "b2" || n < 300 })
	}
	w.increment()
	w.wantRows("year, parameter, unit, rank, city, state, mean, stations, kind, capture", "ranking ORDER BY rank",
		"(2023,'pm25','µg/m³',1,'Delhi','Delhi',120,1,'city_mean',1)", "(2023,'pm25','µg/m³',2,'Pune','Maharashtra',30,2,'reference',1)")
	w.wantRows("station, kind, mean, minimum, day_median, max_day, days, complete", "annual_statistics WHERE station IN ('a', 'c') ORDER BY station",
		"('a','reference',20,NULL,20,20,365,true)", "('c','sensor',100,NULL,100,100,365,true)")
}

// A series of 2 µg/m³ more a year, with a season, has this slope. A month of another value does not change it.
func TestTrend(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.stationOf("reference", "b", "Pune", "Maharashtra")
	from := indianDay(2018, 1, 1)
	w.means("a", parameter.PM25, from, 5*365+1, func(n int) (float64, bool) {
		day := from.AddDate(0, 0, n)
		if day.Year() == 2020 && day.Month() == time.June {
			return 400, true
		}
		return float64(10*int(day.Month()) + 2*(day.Year()-2018)), true
	})
	w.means("b", parameter.PM25, from, 2*365, constant(10)) // two years are no trend
	w.increment()
	w.wantRows("station, from_month, to_month, months, slope, lower, upper, p < 0.0001", "trend", "('a','2018-01-01','2022-12-01',60,2,2,2,1)")
}

// Five values of one month each: slopes, test and interval by hand.
func TestTrendByHand(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	for i, v := range []float64{3, 1, 4, 4, 8} {
		w.means("a", parameter.PM25, indianDay(2018+i, 3, 1), 31, constant(v))
	}
	w.increment()
	// Slopes: -2, 0.5, 1/3, 1.25, 3, 1.5, 7/3, 0, 4, 2. S = 8 - 1 = 7, the variance (5*4*15 - 2*1*9)/18 = 47/3.
	// The interval has the ranks (10 - 7.75776)/2 = 1.12112 and 9.87888 of the sorted slopes.
	w.wantRows("months, slope, round(lower, 6), round(upper, 6), round(p, 6), mean", "trend", "(5,1.375,-1.757761,3.87888,0.129551,4)")
}

// The views of a cluster have the rows of a single node.
func TestViewsOnACluster(t *testing.T) {
	t.Parallel()
	node := newFixture(t)
	cluster := &fixture{TB: t, db: columnstoretest.Cluster(t, clickhouse.Files, clickhouse.Values()), name: "vayu"}
	cluster.rollup = newRollup(t, cluster.db, migration.Params{Database: cluster.name, Cluster: columnstoretest.ClusterName})
	var got [2][]string
	for i, w := range []*fixture{node, cluster} {
		w.stationOf("reference", "a", "Pune", "Maharashtra")
		w.stationOf("reference", "b", "Delhi", "Delhi")
		for year := 2021; year < 2024; year++ {
			w.means("a", parameter.PM25, indianDay(year, 1, 1), 365, func(n int) (float64, bool) { return float64(year-2000) + float64(n%50), true })
		}
		w.series("b", parameter.O3, indianDay(2023, 1, 1), 320*24, func(n int) (float64, bool) { return float64(n % 113), n%11 > 0 })
		w.increment()
		for _, view := range views.Names {
			rows := w.text("SELECT '" + view + "' || toString(tuple(*)) AS line FROM %s." + view + " ORDER BY line")
			if len(rows) == 0 {
				t.Errorf("%s: %s has no rows", w.name, view)
			}
			got[i] = append(got[i], rows...)
		}
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Errorf("-node +cluster:\n%s", diff)
	}
	if all := strings.Join(got[0], "\n"); strings.Contains(all, "nan") || strings.Contains(all, "inf") {
		t.Error(fmt.Errorf("a figure is no number: %s", all))
	}
}

// Days of a version without the column hours get it with the first roll-up after the migration.
func TestMigrationHasTheHoursOfDaysComputed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stationOf("reference", "a", "Pune", "Maharashtra")
	w.series("a", parameter.PM25, indianDay(2024, 3, 1), 24, constant(50))
	w.increment()
	w.exec(`INSERT INTO %[1]s.station_parameter_day (station, parameter, day, mean, count, expected, flag, computed_at)
		SELECT station, parameter, day, mean, count, expected, flag, computed_at + 1 FROM %[1]s.station_parameter_day`)
	w.wantRows("count()", "openair", "(0)")
	statements, err := migration.DDL(migration.Params{Database: w.name, Files: clickhouse.Files, Values: clickhouse.Values()})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if strings.Contains(s, "AND present = 0") {
			if err := w.db.Conn().Exec(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.increment()
	w.wantRows("count(), sum(pm25)", "openair", "(24,1200)")
	w.wantRows("max_8h", "daily", "(50)")
}
