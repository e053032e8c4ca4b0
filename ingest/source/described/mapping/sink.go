package mapping

import (
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
	"vayu/ingest/source/described/timestamp"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// mostUnits is the maximum length of Sink.units, the units that occur in a fetch. It bounds the memory if a network
// states arbitrary texts as units.
const mostUnits = 500

// Sink turns the records of one fetch into readings, and adds these to a builder. It is not safe for concurrent use.
type Sink struct {
	// OnlyListed rejects records of stations that are not in the station list.
	OnlyListed bool
	// Accept reports whether to add a reading; nil adds all readings.
	Accept func(station string, p parameter.Parameter, at time.Time) bool

	m       *Mapping
	now     time.Time
	builder *ingest.Builder
	clock   timestamp.Clock // copy of Mapping.clock, which caches times
	listed  map[string]map[string]string

	measures []measure
	names    table.Parameters
	extracts *record.Extracts
	spacings table.Spacings
	current  *record.Frame       // record that is being read; nil for none
	stations map[string]*station // by the text that identifies the station
	last     *station            // station of the last record
	lastKey  string
	added    map[added]bool // nil for files, which may have any number of readings
	records  int
	readings int
	looked   []bool
	seen     []bool
	fields   record.Search
	units    map[unitOf]bool
	optional []pathsOf // nil before the first record
}

// unitOf is a unit that a record states for a parameter.
type unitOf struct {
	parameter parameter.Parameter
	unit      string
}

// station is a station that records have described. `number` is its number in the builder `builder`.
type station struct {
	described air.Station
	number    int
	builder   *ingest.Builder
	outside   bool // the station is outside the area
	placed    bool // a record had the station's position
}

// added identifies a reading that this fetch has added. It serves to detect duplicates.
type added struct {
	station   *station
	parameter parameter.Parameter
	at        int64
}

// NewSink returns a sink that adds readings to b. `listed` maps the id of each station in the station list to the
// fields of the station. Without a station list, `listed` is nil.
func (m *Mapping) NewSink(b *ingest.Builder, now time.Time, listed map[string]map[string]string) *Sink {
	s := &Sink{
		m: m, now: now, builder: b, clock: m.clock, listed: listed, measures: m.measures, extracts: record.NewExtracts(m.extracts),
		names: make(table.Parameters), stations: make(map[string]*station), added: make(map[added]bool),
		looked: make([]bool, len(m.fields)), seen: make([]bool, len(m.fields)), units: make(map[unitOf]bool),
	}
	s.fields.Note = func(path string, is ingest.FieldType) { s.builder.Field(path, is) }
	return s
}

// Record returns the number and the text of the current record, as [ingest.Builder.Describe] needs them.
func (s *Sink) Record() (number int64, text string) {
	if s.current == nil {
		return int64(s.records), ""
	}
	if number, text = s.current.Describe(); number == 0 {
		number = int64(s.records)
	}
	return number, text
}

// At sets the time at which the next reply or message was received.
func (s *Sink) At(now time.Time) { s.now = now }

// Replace makes the sink add further readings to another builder.
func (s *Sink) Replace(b *ingest.Builder) { s.builder = b }

// Readings returns the number of readings that were added.
func (s *Sink) Readings() int { return s.readings }

// Add adds the readings of a reply, and returns the number of its records. `part` has the fields of the partition. The
// error comes from the builder, or from reading a table.
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

// Read adds the readings of a file. `file` has the fields in the name of the file, and `part` those of the partition.
// Read skips records before the position in.Start. Before each record that it reads, and at the end, it calls `at` with
// the position, unless `at` is nil. If the content is unreadable, the error is an [*ingest.BatchError].
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

// prescan passes the time of a record to s.spacings, which computes the averaging intervals from the times. If the
// mapping has a spacing, Add and Read call prescan for all records before they read the first one.
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
