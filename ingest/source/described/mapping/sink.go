package mapping

import (
	"fmt"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
	"vayu/ingest/source/described/timestamp"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// mostUnits bounds the memory of a network whose units are data.
const mostUnits = 500

// Sink adds the readings of one fetch to a builder. It is not safe for concurrent use.
type Sink struct {
	// OnlyListed rejects records of stations that the list of stations lacks.
	OnlyListed bool
	// Accept reports whether a reading is added; nil means that all are.
	Accept func(station string, p parameter.Parameter, at time.Time) bool

	m       *Mapping
	now     time.Time
	builder *ingest.Builder
	clock   timestamp.Clock // with the last parsed times
	listed  map[string]map[string]string

	measures []measure
	names    table.Parameters
	extracts *record.Extracts
	spacings table.Spacings
	current  *record.Frame       // the current record; nil for none
	stations map[string]*station // by the key of the station
	last     *station            // of the last record
	lastKey  string
	added    map[added]bool // nil for files, whose number of readings is not limited
	records  int
	readings int
	looked   []bool
	seen     []bool
	fields   record.Search
	units    map[unitOf]bool
}

// unitOf is a unit that a record states for a parameter.
type unitOf struct {
	parameter parameter.Parameter
	unit      string
}

// station is a described station. The field number is the builder's number of the station.
type station struct {
	described air.Station
	number    int
	builder   *ingest.Builder
	outside   bool // of the area
	placed    bool // a record had its position
}

// added identifies a reading of the fetch.
type added struct {
	station   *station
	parameter parameter.Parameter
	at        int64
}

// NewSink returns a sink. listed has the fields of stations in the station list, by
// the key of the station; it may be nil.
func (m *Mapping) NewSink(b *ingest.Builder, now time.Time, listed map[string]map[string]string) *Sink {
	s := &Sink{
		m: m, now: now, builder: b, clock: m.clock, listed: listed, measures: m.measures, extracts: record.NewExtracts(m.extracts),
		names: make(table.Parameters), stations: make(map[string]*station), added: make(map[added]bool),
		looked: make([]bool, len(m.fields)), seen: make([]bool, len(m.fields)), units: make(map[unitOf]bool),
	}
	s.fields.Note = func(path string, is ingest.FieldType) { s.builder.Field(path, is) }
	return s
}

// Record returns the number and the text of the current record, for
// [ingest.Builder.Describe].
func (s *Sink) Record() (number int64, text string) {
	if s.current == nil {
		return int64(s.records), ""
	}
	if number, text = s.current.Describe(); number == 0 {
		number = int64(s.records)
	}
	return number, text
}

// At sets the time at which the next reply was received.
func (s *Sink) At(now time.Time) { s.now = now }

// Replace makes the sink continue with another builder.
func (s *Sink) Replace(b *ingest.Builder) { s.builder = b }

// Readings returns the number of readings that were added.
func (s *Sink) Readings() int { return s.readings }

// Add adds the readings of a reply and returns the number of records. part has the fields
// of the partition. The error is that of the builder, or about a table.
func (s *Sink) Add(reply record.Reply, part map[string]string) (int, error) {
	defer func() { s.current = nil }()
	s.fields.Reply(reply, s.m.Records.At)
	if s.m.spacing != nil {
		s.spacings = table.NewSpacings()
		if _, err := s.m.Records.Walk(reply, part, s.prescan); err != nil {
			return 0, err
		}
	}
	return s.m.Records.Walk(reply, part, s.visit)
}

// Read adds the readings of a file. file and part have the fields of its name and of its
// partition. The function at, unless nil, is called before each record with the record's
// position, and at the end. A record before in.Start is not read. A file that cannot be
// read is an [*ingest.BatchError].
func (s *Sink) Read(in *table.Input, file, part map[string]string, at func(position int64)) error {
	defer func() { s.current = nil }()
	s.added = nil
	f := &record.Frame{File: file, Part: part, Extracts: s.extracts}
	if s.m.spacing != nil {
		s.spacings = table.NewSpacings()
		if _, err := s.m.Records.Scan(in, f, func(int64) error { return s.prescan(f) }); err != nil {
			return err
		}
	}
	end, err := s.m.Records.Scan(in, f, func(position int64) error {
		if position < in.Start {
			return nil
		}
		if at != nil {
			s.current = nil
			at(position)
		}
		return s.visit(f)
	})
	if err == nil && at != nil {
		s.current = nil
		at(end)
	}
	return err
}

// prescan counts a record for the distances between rows.
func (s *Sink) prescan(f *record.Frame) error {
	if f.Bad {
		return nil
	}
	f.Extracts = s.extracts
	if at, _, reason, _ := s.clock.Of(f, s.now); reason == ingest.None {
		s.m.spacing.note(&s.spacings, f, at)
	}
	return nil
}

// visit adds the readings of a record.
func (s *Sink) visit(f *record.Frame) error {
	s.records++
	s.current, f.Extracts = f, s.extracts
	if f.Bad {
		s.builder.Reject(ingest.BadLine)
		return nil
	}
	if names := f.TakeHeader(); names != nil {
		if err := s.header(names, f.Columns()); err != nil {
			return err
		}
	}
	s.fields.Record(f)
	if s.m.bulletin != nil {
		s.addBulletin(f)
		return nil
	}
	var h head
	if !s.m.headInEach {
		h = s.head(f)
	}
	seen, err := s.m.Records.WalkEach(f, func() error {
		if s.m.headInEach {
			h = s.head(f)
		}
		return s.element(f, &h)
	})
	s.look(s.m.each, seen)
	return err
}

// addBulletin adds the published index of a record.
func (s *Sink) addBulletin(f *record.Frame) {
	at, _, reason, seen := s.clock.Of(f, s.now)
	s.look(s.m.timeAt, seen)
	if reason != ingest.None {
		s.builder.RejectField(reason, "bulletin")
		return
	}
	s.readings++
	s.m.bulletin.Add(f, at, s.builder)
}

// header checks the columns of a table once, and finds its measures. A table without the column of
// a value says nothing about stored ones.
func (s *Sink) header(names []string, columns map[string]int) error {
	for name := range columns {
		s.builder.Field(name, ingest.TextField)
	}
	if s.m.byHeader {
		if s.measures = ofHeader(names, s.m.interval); len(s.measures) == 0 {
			return record.Refuse("no column of the table has the name of a parameter")
		}
	}
	if missing := s.m.missing(names, columns); missing != "" {
		return record.Refuse(missing)
	}
	if !s.m.byHeader {
		s.measures = s.m.present(columns)
	}
	return nil
}

// Check returns an error if there were records, no reading, and a field that no
// record has: the API has probably renamed it.
func (s *Sink) Check() error {
	if s.records == 0 || s.readings > 0 {
		return nil
	}
	if fields := s.m.renamed(s.looked, s.seen); fields != "" {
		return record.Refuse(fmt.Sprintf("none of %d records has the field %s; the API may have renamed it", s.records, fields))
	}
	return nil
}

func (s *Sink) look(field int, seen bool) {
	s.looked[field] = true
	s.seen[field] = s.seen[field] || seen
}

// head is what the values of a record share: time, station and quality.
type head struct {
	at      time.Time
	minutes uint16   // averaging interval; 0 for that of the measure
	of      *station // nil if the record has no station
	flag    air.Flag
	reason  ingest.Reason // why the record is rejected; None if it is valid
	skip    bool          // the record is left out
}

// head reads what the values of a record share.
func (s *Sink) head(f *record.Frame) head {
	key, seen := s.m.station.key(f)
	s.look(s.m.stationAt, seen)
	if s.listed != nil {
		id := key
		if len(s.m.match) > 0 {
			id, _ = f.Text(s.m.match)
		}
		f.Listed = s.listed[id]
	}
	if !s.wanted(f) {
		return head{skip: true}
	}
	at, minutes, reason, seen := s.clock.Of(f, s.now)
	s.look(s.m.timeAt, seen)
	if sp := s.m.spacing; sp != nil && reason == ingest.None {
		if minutes = sp.of(&s.spacings, f); minutes == 0 {
			reason = ingest.BadTime
		}
	}
	var of *station
	if !table.Named([]byte(key)) || s.OnlyListed && f.Listed == nil {
		reason = ingest.NoStation
	} else {
		of = s.station(f, key)
		if of.outside || !s.m.area.inCountry(f) {
			reason = ingest.OutsideIndia
		}
	}
	h := head{at: at, minutes: minutes, of: of, reason: reason}
	s.test(f, s.m.recordTests, &h)
	return h
}

// element adds the readings of a record, or of one element of the record's list.
func (s *Sink) element(f *record.Frame, record *head) error {
	if record.skip {
		return nil
	}
	h := *record
	s.test(f, s.m.eachTests, &h)
	for i := range s.measures {
		if err := s.measure(f, &s.measures[i], &h); err != nil {
			return err
		}
	}
	return nil
}

// station returns the station of a record. The first call for a station describes it, and
// so does the first record that has its position.
func (s *Sink) station(f *record.Frame, key string) *station {
	if s.last != nil && key == s.lastKey {
		if s.last.placed || len(s.m.station.latitude) == 0 {
			return s.last
		}
	}
	known := s.stations[key]
	placed := (known == nil || !known.placed) && s.m.station.placed(f)
	if known == nil || placed {
		key = strings.Clone(key)
		described := s.m.station.describe(f, key, s.builder)
		known = &station{described: described, placed: placed, outside: !s.m.area.contains(described.Latitude, described.Longitude)}
		s.stations[key] = known
	}
	s.last, s.lastKey = known, strings.Clone(key)
	return known
}

// test applies quality tests until one rejects the record.
func (s *Sink) test(f *record.Frame, tests []test, h *head) {
	for i := range tests {
		if h.reason != ingest.None {
			return
		}
		t := &tests[i]
		if t.required {
			s.look(t.mapped, t.seen(f))
		}
		flag, reason := t.apply(f)
		h.reason = reason
		if flag != air.Plain {
			h.flag = flag
		}
	}
}

// noteUnit notes a unit for the fingerprint of the fetch.
func (s *Sink) noteUnit(p parameter.Parameter, unit string) {
	of := unitOf{p, unit}
	if !p.Valid() || s.units[of] || len(s.units) >= mostUnits {
		return
	}
	s.units[unitOf{p, strings.Clone(unit)}] = true
	s.builder.Unit(p, unit)
}

func (s *Sink) measure(f *record.Frame, m *measure, h *head) error {
	at, of, reason := h.at, h.of, h.reason
	p, unit, skip, seen := m.parameterOf(f, s.names)
	s.look(m.parameterAt, seen)
	if skip {
		return nil
	}
	text, seen := m.valueOf(f)
	s.look(m.valueAt, seen)
	if len(m.unitField) > 0 {
		unit, seen = f.Text(m.unitField)
		s.look(m.unitAt, seen)
		s.noteUnit(p, unit)
	}
	if reason == ingest.None && !p.Valid() {
		reason = ingest.UnknownPollutant
	}
	if reason != ingest.None {
		s.builder.RejectField(reason, m.fieldOf(p))
		return nil
	}
	minutes := m.averaging
	if h.minutes > 0 {
		minutes = h.minutes
	}
	if s.clock.Begin {
		at = at.Add(time.Duration(minutes) * time.Minute)
	}
	if of.builder != s.builder {
		of.number, of.builder = s.builder.Station(of.described), s.builder
	}
	reading := air.Reading{Parameter: p, At: at, Kind: m.kind, Averaging: minutes, Flag: h.flag}
	if has(m.clipped, text) {
		reading.Flag = air.Clipped
	}
	reading.Value, reason = m.convert(p, f.Number(text), unit, s.m.relabels)
	switch reason {
	case ingest.None:
	case ingest.MissingValue:
		s.builder.Missing(of.number, reading)
		return nil
	default:
		s.builder.RejectField(reason, m.fieldOf(p))
		return nil
	}
	if s.Accept != nil && !s.Accept(of.described.ID, p, at) {
		return nil
	}
	if s.added != nil {
		id := added{of, p, at.Unix()}
		if s.added[id] {
			s.builder.RejectField(ingest.Duplicate, p.ID())
			return nil
		}
		s.added[id] = true
	}
	s.readings++
	return s.builder.Add(of.number, reading)
}
