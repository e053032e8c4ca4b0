package mapping

import (
	"fmt"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// Sink adds the readings of one fetch to a builder. It is not safe for concurrent use.
type Sink struct {
	m       *Mapping
	now     time.Time
	builder *ingest.Builder
	clock   clock // with the last parsed time
	listed  map[string]map[string]string

	record   string              // raw text of the current record
	stations map[string]*station // by the key of the station
	added    map[added]bool
	records  int
	readings int
	looked   []bool
	seen     []bool
	fields   fieldSearch
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
		m: m, now: now, builder: b, clock: m.clock, listed: listed,
		stations: make(map[string]*station), added: make(map[added]bool),
		looked: make([]bool, len(m.fields)), seen: make([]bool, len(m.fields)), units: make(map[unitOf]bool),
	}
	s.fields.note = func(path string, is ingest.FieldType) { s.builder.Field(path, is) }
	return s
}

// Record returns the number and the text of the current record, for
// [ingest.Builder.Describe].
func (s *Sink) Record() (number int64, text string) { return int64(s.records), s.record }

// Replace makes the sink continue with another builder.
func (s *Sink) Replace(b *ingest.Builder) { s.builder = b }

// Readings returns the number of readings that were added.
func (s *Sink) Readings() int { return s.readings }

// Add adds the readings of a reply and returns the number of records. part has the fields
// of the partition. The error is that of the builder.
func (s *Sink) Add(reply Reply, part map[string]string) (int, error) {
	s.fields.reply(reply.root, s.m.Records.At)
	count, err := s.m.Records.Walk(reply, part, func(f *Frame) error {
		s.records++
		s.record = f.record.Raw
		s.fields.record(f)
		var h head
		if !s.m.headInEach {
			h = s.head(f)
		}
		seen, err := s.m.Records.walkEach(f, func() error {
			if s.m.headInEach {
				h = s.head(f)
			}
			return s.element(f, &h)
		})
		s.look(s.m.each, seen)
		return err
	})
	s.record = ""
	return count, err
}

// Check returns an error if there were records, no reading, and a field that no
// record has: the API has probably renamed it.
func (s *Sink) Check() error {
	if s.records == 0 || s.readings > 0 {
		return nil
	}
	if fields := s.m.renamed(s.looked, s.seen); fields != "" {
		return refuse(fmt.Sprintf("none of %d records has the field %s; the API may have renamed it", s.records, fields))
	}
	return nil
}

func (s *Sink) look(field int, seen bool) {
	s.looked[field] = true
	s.seen[field] = s.seen[field] || seen
}

// head is what the values of a record share: time, station and quality.
type head struct {
	at     time.Time
	of     *station // nil if the record has no station
	flag   air.Flag
	reason ingest.Reason // why the record is rejected; None if it is valid
}

// head reads what the values of a record share.
func (s *Sink) head(f *Frame) head {
	at, reason, seen := s.clock.of(f, s.now)
	s.look(s.m.timeAt, seen)
	key, seen := s.m.station.key(f)
	s.look(s.m.stationAt, seen)
	if s.listed != nil {
		f.listed = s.listed[key]
	}
	var of *station
	if key == "" {
		reason = ingest.NoStation
	} else {
		of = s.station(f, key)
		if of.outside || !s.m.area.inCountry(f) {
			reason = ingest.OutsideIndia
		}
	}
	h := head{at: at, of: of, reason: reason}
	s.test(f, s.m.recordTests, &h)
	return h
}

// element adds the readings of a record, or of one element of the record's list.
func (s *Sink) element(f *Frame, record *head) error {
	h := *record
	s.test(f, s.m.eachTests, &h)
	for i := range s.m.measures {
		if err := s.measure(f, &s.m.measures[i], &h); err != nil {
			return err
		}
	}
	return nil
}

// station returns the station of a record. The first call for a station describes it.
func (s *Sink) station(f *Frame, key string) *station {
	known := s.stations[key]
	if known == nil {
		known = &station{described: s.m.station.describe(f, strings.Clone(key), s.builder)}
		known.outside = !s.m.area.contains(known.described.Latitude, known.described.Longitude)
		s.stations[strings.Clone(key)] = known
	}
	return known
}

// test applies quality tests until one rejects the record.
func (s *Sink) test(f *Frame, tests []test, h *head) {
	for i := range tests {
		if h.reason != ingest.None {
			return
		}
		t := &tests[i]
		if t.required {
			s.look(t.mapped, f.find(t.field).Exists())
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
	if !p.Valid() || s.units[of] || len(s.units) >= mostNames {
		return
	}
	s.units[unitOf{p, strings.Clone(unit)}] = true
	s.builder.Unit(p, unit)
}

func (s *Sink) measure(f *Frame, m *measure, h *head) error {
	at, of, reason := h.at, h.of, h.reason
	p, unit, skip, seen := m.parameterOf(f)
	s.look(m.parameterAt, seen)
	if skip {
		return nil
	}
	text, seen := m.valueOf(f)
	s.look(m.valueAt, seen)
	if len(m.unitField) > 0 {
		unit, seen = f.text(m.unitField)
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
	if s.clock.begin {
		at = at.Add(time.Duration(m.averaging) * time.Minute)
	}
	if of.builder != s.builder {
		of.number, of.builder = s.builder.Station(of.described), s.builder
	}
	reading := air.Reading{Parameter: p, At: at, Kind: m.kind, Averaging: m.averaging, Flag: h.flag}
	reading.Value, reason = m.convert(p, text, unit, s.m.relabels)
	switch reason {
	case ingest.None:
	case ingest.MissingValue:
		s.builder.Missing(of.number, reading)
		return nil
	default:
		s.builder.RejectField(reason, m.fieldOf(p))
		return nil
	}
	id := added{of, p, at.Unix()}
	if s.added[id] {
		s.builder.RejectField(ingest.Duplicate, p.ID())
		return nil
	}
	s.added[id] = true
	s.readings++
	return s.builder.Add(of.number, reading)
}
