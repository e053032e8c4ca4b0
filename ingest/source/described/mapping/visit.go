package mapping

import (
	"time"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// visit adds the readings in a record.
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
	s.noteField(s.m.each, seen)
	return err
}

// addBulletin adds the bulletin in a record to the builder, or counts it as rejected. A bulletin is the AQI that an
// agency published for a city and a day.
func (s *Sink) addBulletin(f *record.Frame) {
	at, _, reason, seen := s.clock.Of(f, s.now)
	s.noteField(s.m.timeAt, seen)
	if reason != ingest.None {
		s.builder.RejectField(reason, "bulletin")
		return
	}
	s.readings++
	s.m.bulletin.Add(f, at, s.builder)
}

// head has the data that all values of a record have in common: time, station and quality.
type head struct {
	at      time.Time
	minutes uint16   // averaging interval; 0 for the one of each measure
	of      *station // nil if the record has no station
	flag    air.Flag
	reason  ingest.Reason // why the values are rejected; None if they are valid
	skip    bool          // a filter skips the record
}

// head reads the data that all values of a record have in common.
func (s *Sink) head(f *record.Frame) head {
	key, seen := s.m.station.key(f)
	s.noteField(s.m.stationAt, seen)
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
	s.noteField(s.m.timeAt, seen)
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

// element adds the readings in a record, or in one element of the record's list.
func (s *Sink) element(f *record.Frame, record *head) error {
	if record.skip {
		return nil
	}
	s.notePaths(f)
	h := *record
	s.test(f, s.m.eachTests, &h)
	for i := range s.measures {
		if err := s.measure(f, &s.measures[i], &h); err != nil {
			return err
		}
	}
	return nil
}

// test applies quality tests to a record until one of them rejects it. It stores the results in h.
func (s *Sink) test(f *record.Frame, tests []test, h *head) {
	for i := range tests {
		if h.reason != ingest.None {
			return
		}
		t := &tests[i]
		if t.required {
			s.noteField(t.mapped, t.seen(f))
		}
		flag, reason := t.apply(f)
		h.reason = reason
		if flag != air.Plain {
			h.flag = flag
		}
	}
}
