package ingest

import (
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
	"vayu/schema/parameter"
)

// described is a station as the source described it. `used` is true if the current batch has readings of the station.
type described struct {
	air.Station
	used bool
}

// Station describes a station and returns its number for [Builder.Add]. It normalises city and state. It drops a
// position outside India, and counts it once for each station as [BadPosition]. A repeated description only adds a
// missing position.
func (b *Builder) Station(s air.Station) int {
	if i, ok := b.known[s.ID]; ok {
		if old := &b.stations[i]; !old.Located() && s.Located() && geo.InIndia(s.Latitude, s.Longitude) {
			old.Latitude, old.Longitude = s.Latitude, s.Longitude
		}
		return i
	}
	s.Source = b.source
	s.Name = air.CleanPlace(s.Name)
	s.City, s.State = gazetteer.Canonical(s.City, s.State)
	if s.Located() && !geo.InIndia(s.Latitude, s.Longitude) {
		b.RejectPosition(s.ID, formatDegrees(s.Latitude), formatDegrees(s.Longitude))
		s.Latitude, s.Longitude = 0, 0
	}
	b.stations = append(b.stations, described{Station: s})
	b.known[s.ID] = len(b.stations) - 1
	return len(b.stations) - 1
}

// Add adds a reading of the station with this index, and sets the ids of its station and source. If [Check] rejects
// the reading, Add only counts it as rejected. It returns an error only if a full batch was not stored.
func (b *Builder) Add(station int, r air.Reading) error {
	if b.err != nil {
		return b.err
	}
	s := &b.stations[station]
	r.Station = s.ID
	if reason := Check(&r, b.now); reason != None {
		b.reject(reason, r.Parameter.ID(), r.Station)
		return nil
	}
	b.note(station, r.At)
	f := &b.fields
	f.station.Append(r.Station)
	f.parameter.Append(uint8(r.Parameter))
	f.at.Append(arrow.Timestamp(r.At.Unix()))
	f.value.Append(r.Value)
	f.kind.Append(int8(r.Kind))
	f.averaging.Append(r.Averaging)
	f.flag.Append(int8(r.Flag))
	f.source.Append(b.source)
	b.rows++
	if b.rows < batchRows || b.positioned && b.rows < 2*batchRows { // if positioned, At flushes
		return nil
	}
	return b.flush()
}

// Missing reports a cell that is empty or holds a marker such as NA. It ignores Value, Flag, Station and Source of r.
// It counts the cell as [MissingValue] and adds it to [Batch.Missing], so that the store can withdraw an earlier value.
// If the parameter is unknown or [checkTime] rejects the time, Missing only counts the cell.
func (b *Builder) Missing(station int, r air.Reading) {
	b.Reject(MissingValue)
	if b.err != nil || !r.Parameter.Valid() || checkTime(r.At, b.now) != None {
		return
	}
	r.Station, r.Source, r.Value, r.Flag = b.stations[station].ID, b.source, 0, air.Plain
	b.batch.Missing = append(b.batch.Missing, r)
	if len(b.batch.Missing) >= batchMissing && !b.positioned {
		b.err = b.flush()
	}
}

// note updates FirstSeen and LastSeen of a station, and adds the station to the batch.
func (b *Builder) note(station int, at time.Time) {
	s := &b.stations[station]
	if s.FirstSeen.IsZero() || at.Before(s.FirstSeen) {
		s.FirstSeen = at
	}
	if at.After(s.LastSeen) {
		s.LastSeen = at
	}
	if !s.used {
		s.used = true
		b.used = append(b.used, station)
	}
}

// Field reports to the recorder a field or column of the source's records. See [Fingerprint].
func (b *Builder) Field(path string, is FieldType) { b.recorder.Field(path, is) }

// Unit reports to the recorder the unit that a record states for a parameter, in the spelling of the source.
func (b *Builder) Unit(p parameter.Parameter, unit string) { b.recorder.Unit(p.ID(), unit) }

// At sets the present position in the input. The builder has processed all values before that position, so an
// interrupted import can resume there. A source calls At between two rows. If the batch is full, At yields the batch,
// so that the batch ends at this position.
func (b *Builder) At(position int64) {
	b.position, b.positioned = position, true
	if b.err == nil && (b.rows >= batchRows || len(b.batch.Missing) >= batchMissing || len(b.batch.Bulletins) >= batchMissing) {
		b.err = b.flush()
	}
}

// Check returns the reason to reject a reading, or [None] for a valid one. The reading must have all its fields.
func Check(r *air.Reading, now time.Time) Reason {
	switch {
	case r.Station == "":
		return NoStation
	case !r.Parameter.Valid(), r.Kind == air.SubIndex && !r.Parameter.Indexed():
		return UnknownPollutant
	}
	if reason := checkTime(r.At, now); reason != None {
		return reason
	}
	if reason := checkSigned(r.Parameter, r.Value, CheckValue(r.Value)); reason != None {
		return reason
	}
	least, most := 0.0, float64(mostIndex)
	if r.Kind == air.Concentration {
		least, most = r.Parameter.Range()
	}
	if r.Value < least || r.Value > most {
		return OutOfRange
	}
	return None
}
