package query

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/schema"
)

// historyRow is a row of a history answer: the figures of a day or, if its day is
// hourOnly, of an hour.
type historyRow = day

// location is the place of a history query: a city or a position.
type location struct {
	city  int // in the snapshot, -1 for a position
	point places.Point
	near  []sample // stations within reach of a position, nearest first
	label string
}

// answerHistory answers a query for a date or a range.
func (s *Service) answerHistory(c *httpapi.Call, a *worldState, snap *Snapshot, q *aqiQuery) (httpapi.Response, error) {
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	from, to := q.from, q.to
	if q.has(paramDate) {
		from, to = q.day, q.day
	}
	if q.has(paramCity) && !q.hourly && !q.has(paramDate) && !q.namesKinds() {
		return a.cityRange(ctx, snap, q)
	}
	w, err := s.locate(ctx, snap, q)
	if err != nil {
		return httpapi.Response{}, err
	}
	var rows []historyRow
	switch {
	case w.city < 0 && len(w.near) == 0:
	case q.hourly:
		rows, err = s.placeHours(c, a, snap, q, w)
	default:
		rows, err = s.placeDays(c, a, snap, q, w, from, to)
	}
	switch {
	case err != nil:
		return httpapi.Response{}, err
	case len(rows) == 0 && w.city < 0:
		return httpapi.Response{}, s.noDataNear(c, a, snap, w, q, from, to)
	case len(rows) == 0:
		return httpapi.Response{}, noData(w.label, q, from, to)
	case q.has(paramDate) && q.detail:
		return a.dayDetail(ctx, snap, q, w.label, rows[0])
	case q.has(paramDate):
		return httpapi.Ready(q.appendKinds(appendRow(make([]byte, 0, 280), w.label, &rows[0])), time.Time{}), nil
	case q.hourly:
		return httpapi.Ready(q.appendKinds(appendHours(w.label, from, to, rows)), time.Time{}), nil
	}
	resp, _ := rangeResponse(w.label, from, to, split(w.label, rows), q)
	return resp, nil
}

// locate returns the location that a query names.
func (s *Service) locate(ctx context.Context, snap *Snapshot, q *aqiQuery) (w location, err error) {
	if q.has(paramCity) {
		if w.city, err = snap.index.Find(q.city); err != nil {
			return w, err
		}
		w.label = snap.index.Label(w.city)
		return w, nil
	}
	w.city, w.point = -1, q.point
	if q.has(paramPincode) {
		if w.point, err = s.locatePin(ctx, q.pin); err != nil {
			return w, err
		}
	}
	if w.near = snap.around(w.point, nearestReach, snap.kindsFor(q)); len(w.near) > 0 {
		w.label = snap.placeName(w.near[0].station)
	}
	return w, nil
}

// placeDays returns the days of a place. Days of cities are cached. To read others
// it takes one of the account's slots for concurrent queries.
func (s *Service) placeDays(
	c *httpapi.Call, a *worldState, snap *Snapshot, q *aqiQuery, w location, from, to schema.Day,
) ([]historyRow, error) {
	if w.city < 0 || q.namesKinds() {
		release, err := s.historySlots.acquire(c.Context(), c.Account)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	return a.readHistory(ctx, snap, q, w, from, to)
}

// readHistory reads the days or hours of a place.
func (a *worldState) readHistory(
	ctx context.Context, snap *Snapshot, q *aqiQuery, w location, from, to schema.Day,
) ([]historyRow, error) {
	if w.city >= 0 {
		return a.cityHistory(ctx, snap, w.city, q.kinds, from, to, q.hourly)
	}
	return a.positionHistory(ctx, snap, w.near, q, from, to)
}

// appendKinds adds the kinds that the query names to the end of a JSON object.
func (q *aqiQuery) appendKinds(b []byte) []byte {
	if !q.namesKinds() {
		return b
	}
	return append(q.kinds.append(b[:len(b)-1]), '}')
}

// split renders rows as blocks of JSON that are not cached.
func split(label string, rows []historyRow) []*block {
	var out []*block
	for n := blockOf(rows[0].day); n <= blockOf(rows[len(rows)-1].day); n++ {
		out = append(out, newBlock(n, label, between(rows, n*blockDays, (n+1)*blockDays-1)))
	}
	return out
}

// noDataNear returns the problem for a position without stations nearby, or without
// figures in the period. It takes one of the account's slots.
func (s *Service) noDataNear(
	c *httpapi.Call, a *worldState, snap *Snapshot, w location, q *aqiQuery, from, to schema.Day,
) error {
	release, err := s.historySlots.acquire(c.Context(), c.Account)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	if len(w.near) == 0 {
		return a.noStationNear(ctx, snap, w.point, q, time.Time{})
	}
	problem := noData(w.label, q, from, to)
	if i, km := snap.nearest(w.point, func(*station) bool { return true }); i >= 0 {
		a.explain(ctx, snap, problem, sample{station: i, km: km}, q, time.Time{})
	}
	return problem
}

func noData(label string, q *aqiQuery, from, to schema.Day) *schema.Problem {
	field, when := "date", from.String()
	if !q.has(paramDate) {
		field, when = "from", fmt.Sprintf("%s to %s", from, to)
	}
	if q.has(paramPincode) {
		label = fmt.Sprintf("the pin code %d (%s)", q.pin, label)
	} else if q.has(paramLat) {
		label = fmt.Sprintf("the position (%s)", label)
	}
	return schema.NewProblem(schema.NoData, field, fmt.Sprintf("There are no figures for %s for %s.", label, when))
}

func appendRow(b []byte, label string, m *historyRow) []byte {
	record := m.record(label)
	b = record.Append(b)
	if m.day != hourOnly {
		b = append(b, `,"date":"`...)
		b = appendDay(b, m.day)
		b = append(b, '"')
	}
	return append(b, '}')
}

// hourOnly, which is no valid day, marks a historyRow that holds an hour.
const hourOnly = notDirty

func appendHours(label string, from, to schema.Day, rows []historyRow) []byte {
	b := appendRangeHead(make([]byte, 0, 160+260*len(rows)), label, from, to, "hour")
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRow(b, label, &rows[i])
	}
	return append(b, rangeEnd...)
}

// dayDetail returns the detailed answer for one day, which never becomes stale.
func (a *worldState) dayDetail(
	ctx context.Context, snap *Snapshot, q *aqiQuery, label string, m historyRow,
) (httpapi.Response, error) {
	d := detailOf(&m.figures, instant(m.updated))
	d.Kinds = q.kinds.named()
	if q.has(paramCity) {
		i, err := snap.index.Find(q.city)
		if err != nil {
			return httpapi.Response{}, err
		}
		d.State = snap.cities[i].State
		stations := snap.ofCity(&snap.cities[i], snap.kindsFor(q))
		if err := a.clientTables.readHour(ctx, snap, stations, m.at); err != nil {
			return httpapi.Response{}, unavailable(err)
		}
		snap.addStations(&d, stations)
	} else if q.has(paramPincode) {
		d.Pincode = fmt.Sprint(q.pin)
	}
	body, err := json.Marshal(detailRecord{Record: m.record(label), Date: m.day.String(), Detail: d})
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Ready(body, time.Time{}), nil
}

// readHour sets the figures of the samples to those of one hour. Stations without a
// row in that hour get empty figures.
func (t tables) readHour(ctx context.Context, snap *Snapshot, samples []sample, at uint32) error {
	got := make(map[string]figures, len(samples))
	var id string
	var row raw
	err := t.eachNamed(ctx, snap.stationIDs(samples), row.into(&id), func() { got[id] = row.figures() },
		fmt.Sprintf(`SELECT station, %s FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)} AND at = toDateTime({at:UInt32}, 'UTC')`, stationFigures, t.database),
		number("at", at))
	if err != nil {
		return fmt.Errorf("reading an hour of stations: %w", err)
	}
	for i := range samples {
		f := got[snap.stations[samples[i].station].ID]
		samples[i].figures = &f
	}
	return nil
}

// cityRange answers a query for days of a city.
func (a *worldState) cityRange(ctx context.Context, snap *Snapshot, q *aqiQuery) (httpapi.Response, error) {
	i, err := snap.index.Find(q.city)
	if err != nil {
		return httpapi.Response{}, err
	}
	label := snap.index.Label(i)
	p, days, err := a.history.cityDays(ctx, snap.cities[i].City)
	if err != nil {
		return httpapi.Response{}, unavailable(err)
	}
	blocks := a.history.blocks(ctx, p, days, label, q.from, q.to, snap.neighboursOf(i))
	resp, ok := rangeResponse(label, q.from, q.to, blocks, q)
	if !ok {
		return httpapi.Response{}, noData(label, q, q.from, q.to)
	}
	return resp, nil
}

// neighboursOf returns a function that lists the stations near a city, nearest
// first.
func (s *Snapshot) neighboursOf(i int) func() []string {
	return func() []string { return s.stationIDs(s.around(s.cities[i].position, nearestReach, s.kinds)) }
}

// cityHistory returns a city's days or hours. kinds is 0 for the default ones,
// whose figures are stored.
func (a *worldState) cityHistory(
	ctx context.Context, snap *Snapshot, i int, kinds kindSet, from, to schema.Day, hourly bool,
) ([]historyRow, error) {
	c := &snap.cities[i]
	if kinds != 0 {
		return a.cityHistoryOfKinds(ctx, snap, i, kinds, from, to, hourly)
	}
	if !hourly {
		p, days, err := a.history.cityDays(ctx, c.City)
		if err != nil {
			return nil, unavailable(err)
		}
		rows, _ := a.history.filled(ctx, p, between(days, from, to), snap.neighboursOf(i))
		return rows, nil
	}
	rows, err := a.clientTables.cityHoursBetween(ctx, c.City, from, to)
	if err != nil {
		return nil, unavailable(err)
	}
	return rows, unavailable(a.clientTables.fillGaps(ctx, snap.neighboursOf(i)(), pointers(rows)))
}

func pointers(rows []historyRow) []*figures {
	out := make([]*figures, len(rows))
	for i := range rows {
		out[i] = &rows[i].figures
	}
	return out
}

func (t tables) cityHoursBetween(ctx context.Context, c places.City, from, to schema.Day) ([]historyRow, error) {
	var out []historyRow
	var row raw
	err := t.each(ctx, row.into(), func() { out = append(out, historyRow{hourOnly, row.figures()}) },
		fmt.Sprintf(`SELECT %s FROM %s.city_hour FINAL
			WHERE city = {city:String} AND state = {state:String}
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			ORDER BY at`, cityFigures, t.database),
		param("city", c.Name), param("state", c.State), number("from", from.Start().Unix()), number("to", to.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading hours of %q: %w", c.Name, err)
	}
	return out, nil
}

// positionHistory returns the history of a position with these stations nearby. It
// interpolates stations within 25 km. For other days or hours it uses the city of
// the nearest station, if that is within 25 km. Last comes the nearest station
// within 100 km.
//
// The city's history may begin before that of any station with a position.
func (a *worldState) positionHistory(
	ctx context.Context, snap *Snapshot, near []sample, q *aqiQuery, from, to schema.Day,
) ([]historyRow, error) {
	inner := slices.IndexFunc(near, func(sm sample) bool { return sm.km > interpolationReach })
	if inner < 0 {
		inner = len(near)
	}
	most := rowCount(from, to, q.hourly)
	newest, err := a.clientTables.newestOfDays(ctx, snap, near, from, to, q.hourly)
	if err != nil {
		return nil, unavailable(err)
	}
	rows, err := a.clientTables.interpolateBetween(ctx, snap, near[:inner], newest, from, to, q.hourly, interpolationReach)
	if own := snap.stations[near[0].station].city; err == nil && inner > 0 && own >= 0 && len(rows) < most {
		var more []historyRow
		if more, err = a.cityHistory(ctx, snap, snap.canonicalCity(int(own)), q.kinds, from, to, q.hourly); err == nil {
			rows = join(rows, more)
		}
	}
	if err == nil && len(rows) < most && inner < len(near) {
		var more []historyRow
		if more, err = a.clientTables.interpolateBetween(ctx, snap, near[inner:], newest, from, to, q.hourly, 0); err == nil {
			rows = join(rows, more)
		}
	}
	if err == nil {
		err = a.clientTables.fillGaps(ctx, snap.stationIDs(near), pointers(rows))
	}
	return rows, unavailable(err)
}

// newestOfDays reads the latest hour of each day in which one of the samples'
// stations has an AQI. It is empty for hourly queries, which do not compare hours.
func (t tables) newestOfDays(
	ctx context.Context, snap *Snapshot, near []sample, from, to schema.Day, hourly bool,
) (map[schema.Day]uint32, error) {
	out := map[schema.Day]uint32{}
	if hourly {
		return out, nil
	}
	var at uint32
	err := t.eachNamed(ctx, snap.stationIDs(near), []any{&at}, func() {
		day := schema.DayOf(instant(at))
		out[day] = max(out[day], at)
	}, fmt.Sprintf(`SELECT toUInt32(max(at)) FROM %s.station_hour
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			GROUP BY toDate(at + %d)`, t.database, int(schema.IndiaOffset.Seconds())-1),
		number("from", from.Start().Unix()), number("to", to.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading days of stations: %w", err)
	}
	return out, nil
}

// canonicalCity returns the city that a city's name resolves to. That is another
// one if the city's state is unknown and a city of the same name has a state.
func (s *Snapshot) canonicalCity(i int) int {
	c := s.cities[i].City
	if found, err := s.index.Find(c.Name + ", " + c.State); err == nil {
		return found
	}
	return i
}

// rowCount returns the number of days or hours from one day to another, both
// included.
func rowCount(from, to schema.Day, hourly bool) int {
	days := int(to-from) + 1
	if hourly {
		return 24 * days
	}
	return days
}

// join adds to rows those of more for other days or hours, and sorts by time.
func join(rows, more []historyRow) []historyRow {
	type key struct {
		day schema.Day
		at  uint32 // of an hour
	}
	of := func(m *historyRow) key {
		if m.day == hourOnly {
			return key{m.day, m.at}
		}
		return key{day: m.day}
	}
	there := make(map[key]bool, len(rows))
	for i := range rows {
		there[of(&rows[i])] = true
	}
	for i := range more {
		if !there[of(&more[i])] {
			rows = append(rows, more[i])
		}
	}
	slices.SortFunc(rows, func(a, b historyRow) int { return int(a.at) - int(b.at) })
	return rows
}

// interpolateBetween reads the samples' stations over a range and interpolates each
// day or hour. A day uses each station's last hour with an AQI. Stations whose hour
// is more than 3 h older than the day's newest are left out. With reach 0 only the
// nearest station counts.
func (t tables) interpolateBetween(
	ctx context.Context, snap *Snapshot, near []sample, newest map[schema.Day]uint32, from, to schema.Day, hourly bool, reach float64,
) ([]historyRow, error) {
	if len(near) == 0 {
		return nil, nil
	}
	by := make(map[string]sample, len(near))
	for _, sm := range near {
		by[snap.stations[sm.station].ID] = sm
	}
	// One second is subtracted, because midnight ends an interval of the day
	// before.
	per := fmt.Sprintf("station, toDate(at + %d)", int(schema.IndiaOffset.Seconds())-1)
	if hourly {
		per = "station, at"
	}
	got := map[schema.Day][]sample{} // by day, or by hour since 1970
	var id string
	var row raw
	err := t.eachNamed(ctx, snap.stationIDs(near), row.into(&id), func() {
		sm, f := by[id], row.figures()
		sm.figures = &f
		key := schema.DayOf(instant(f.at))
		if f.at+interpolationWindow < newest[key] {
			return
		}
		if hourly {
			key = schema.Day(f.at / 3600)
		}
		got[key] = append(got[key], sm)
	}, fmt.Sprintf(`SELECT station, %s FROM %s.station_hour
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			ORDER BY station, at DESC, computed_at DESC LIMIT 1 BY %s`, stationFigures, t.database, per),
		number("from", from.Start().Unix()), number("to", to.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading hours of stations: %w", err)
	}
	out := make([]historyRow, 0, len(got))
	for key, samples := range got {
		samples = snap.preferStations(samples)
		slices.SortFunc(samples, func(a, b sample) int { return int(a.km*1000) - int(b.km*1000) })
		if reach == 0 {
			samples = samples[:1]
		}
		f, _ := weightedMean(samples)
		if hourly {
			key = hourOnly
		}
		out = append(out, historyRow{key, f})
	}
	slices.SortFunc(out, func(a, b historyRow) int { return int(a.at) - int(b.at) })
	return out, nil
}
