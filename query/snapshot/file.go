package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/cespare/xxhash/v2"

	"vayu/internal/atomicfile"
	"vayu/internal/panics"
	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/air"
)

var errNoSnapshot = errors.New("no snapshot file")

// snapshotVersion must change whenever the columns of snapshot files change. The service ignores
// files with another version.
const snapshotVersion = "4"

func snapshotFile(dir string, world schema.World) string {
	return filepath.Join(dir, world.String()+".arrow")
}

// snapshotColumns returns the columns of a snapshot file. A row whose id is "" is for a city, and
// any other row is for a station.
func snapshotColumns(built time.Time, sum string) *arrow.Schema {
	text := func(name string) arrow.Field { return arrow.Field{Name: name, Type: arrow.BinaryTypes.String} }
	fields := []arrow.Field{
		text("id"), text("city"), text("state"), text("name"), text("source"), text("attribution"), text("licence"),
		{Name: "latitude", Type: arrow.PrimitiveTypes.Float64},
		{Name: "longitude", Type: arrow.PrimitiveTypes.Float64},
		{Name: "kind", Type: arrow.PrimitiveTypes.Int64},
		{Name: "first_seen", Type: arrow.PrimitiveTypes.Int64},
		{Name: "last_seen", Type: arrow.PrimitiveTypes.Int64},
		{Name: "heard", Type: arrow.PrimitiveTypes.Int64},
		{Name: "heard_aqi", Type: arrow.PrimitiveTypes.Int64},
	}
	for _, name := range figureNames() {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64})
	}
	meta := arrow.NewMetadata([]string{"version", "built", "sum"},
		[]string{snapshotVersion, built.UTC().Format(time.RFC3339Nano), sum})
	return arrow.NewSchema(fields, &meta)
}

// figureNames returns the names of the columns that hold figures, in the order of the values that `pack` returns.
func figureNames() []string {
	names := []string{"at", "updated", "aqi", "dominant", "used", "total", "derived", "daily_mean", "borrowed"}
	for _, p := range air.Pollutants {
		names = append(names, p.String())
	}
	for _, p := range air.Pollutants {
		names = append(names, p.String()+"_index")
	}
	return names
}

func pack(f *aggregate.Figures) []int64 {
	out := []int64{
		int64(f.At), int64(f.Updated), int64(f.AQI), int64(f.Dominant), int64(f.Used), int64(f.Total),
		int64(f.Derived), int64(f.Daily), int64(f.GapFilled),
	}
	for _, amount := range f.Concentrations {
		out = append(out, int64(amount))
	}
	for _, amount := range f.OtherConcentrations {
		out = append(out, int64(amount))
	}
	for _, index := range f.Index {
		out = append(out, int64(index))
	}
	return out
}

// unpack converts numbers to figures. The numbers are in the order in which the function `pack` returns them. unpack
// returns an error for numbers out of range, because the file may be damaged.
func unpack(v []int64) (aggregate.Figures, error) {
	f := aggregate.Figures{
		At: uint32(v[0]), Updated: uint32(v[1]), AQI: int16(v[2]), Dominant: air.Pollutant(v[3]),
		Used: uint16(v[4]), Total: uint16(v[5]), Derived: uint8(v[6]), Daily: uint8(v[7]), GapFilled: uint8(v[8]),
	}
	for i := range f.Concentrations {
		f.Concentrations[i] = schema.Figure(v[9+i])
	}
	for i := range f.OtherConcentrations {
		f.OtherConcentrations[i] = schema.Figure(v[9+aggregate.Records+i])
	}
	for i := range f.Index {
		f.Index[i] = int16(v[9+len(air.Pollutants)+i])
	}
	for i, back := range pack(&f) {
		if back != v[i] {
			return aggregate.Figures{}, fmt.Errorf("column %s has the value %d", figureNames()[i], v[i])
		}
	}
	if f.AQI < -1 || f.AQI > 500 {
		return aggregate.Figures{}, fmt.Errorf("column aqi has the value %d", f.AQI)
	}
	return f, nil
}

func writeSnapshot(path string, s *Snapshot) error {
	err := os.MkdirAll(filepath.Dir(path), 0o750)
	if err == nil {
		err = atomicfile.Write(path, func(file *os.File) error { return encodeSnapshot(file, s) })
	}
	if err != nil {
		return fmt.Errorf("writing the snapshot %q: %w", path, err)
	}
	return nil
}

func encodeSnapshot(file *os.File, s *Snapshot) error {
	columns := snapshotColumns(s.Built, s.input().sum(s.Built))
	b := array.NewRecordBuilder(memory.DefaultAllocator, columns)
	defer b.Release()
	add := func(st *air.Station, report [2]int64, f *aggregate.Figures) {
		texts := [...]string{st.ID, st.City, st.State, st.Name, st.Source, st.Attribution, st.Licence}
		for i, text := range texts {
			b.Field(i).(*array.StringBuilder).Append(text)
		}
		n := len(texts)
		b.Field(n).(*array.Float64Builder).Append(st.Latitude)
		b.Field(n + 1).(*array.Float64Builder).Append(st.Longitude)
		for i, v := range append([]int64{int64(st.Kind), st.FirstSeen.Unix(), st.LastSeen.Unix(), report[0], report[1]}, pack(f)...) {
			b.Field(n + 2 + i).(*array.Int64Builder).Append(v)
		}
	}
	for i := range s.Stations {
		add(&s.Stations[i].Station, s.Stations[i].cityHourReport(), &s.Stations[i].Figures)
	}
	for i := range s.Cities {
		if c := &s.Cities[i]; c.At > 0 {
			add(&air.Station{City: c.Name, State: c.State}, [2]int64{}, &c.Figures)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(columns))
	if err != nil {
		return err
	}
	return errors.Join(w.Write(record), w.Close())
}

// readSnapshot reads a snapshot from its file. Its error is errNoSnapshot if there is no file.
// Other errors mean that the file is unreadable, damaged or of another version.
func readSnapshot(path string, kinds aggregate.KindSet) (s *Snapshot, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoSnapshot
	}
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot: %w", err)
	}
	defer file.Close()
	// The Arrow reader panics on some damaged files. The service must start even if the file is unreadable.
	err = panics.Catch(func() (err error) {
		s, err = decodeSnapshot(file, kinds)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the snapshot %q: %w", path, err)
	}
	return s, nil
}

func decodeSnapshot(file *os.File, kinds aggregate.KindSet) (*Snapshot, error) {
	r, err := ipc.NewFileReader(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	meta := r.Schema().Metadata()
	version, _ := meta.GetValue("version")
	text, _ := meta.GetValue("built")
	built, err := time.Parse(time.RFC3339Nano, text)
	if version != snapshotVersion || err != nil || !r.Schema().Equal(snapshotColumns(built, "")) {
		return nil, errors.New("it was written by another version")
	}
	f := snapshotInput{kinds: kinds}
	for i := range r.NumRecords() {
		record, err := r.Record(i)
		if err != nil {
			return nil, err
		}
		if err := f.decode(record); err != nil {
			return nil, err
		}
	}
	if sum, _ := meta.GetValue("sum"); sum != f.sum(built) {
		return nil, errors.New("its contents are damaged")
	}
	s := assemble(f, nil, built) // gaps are filled by the next refresh
	s.renderAnswers(nil)
	return s, nil
}

// sum returns a checksum of the contents of a snapshot, because Arrow files have none.
func (f snapshotInput) sum(built time.Time) string {
	h := xxhash.New()
	line := func(st *air.Station, report [2]int64, fig *aggregate.Figures) {
		_, _ = fmt.Fprintln(h, st.ID, st.City, st.State, st.Name, st.Source, st.Attribution, st.Licence, st.Latitude, st.Longitude,
			st.Kind, st.FirstSeen.Unix(), st.LastSeen.Unix(), report, pack(fig))
	}
	_, _ = fmt.Fprintln(h, built.UnixNano())
	for i := range f.stations {
		line(&f.stations[i].Station, f.stations[i].cityHourReport(), &f.stations[i].Figures)
	}
	for i := range f.cities {
		line(&air.Station{City: f.cities[i].Name, State: f.cities[i].State}, [2]int64{}, &f.cities[i].Figures)
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

func (f *snapshotInput) decode(record arrow.Record) error {
	const texts, floats = 7, 2
	values := make([]int64, int(record.NumCols())-texts-floats)
	for row := range int(record.NumRows()) {
		text := func(i int) string { return cloned(record.Column(i).(*array.String).Value(row)) }
		for i := range values {
			values[i] = record.Column(texts + floats + i).(*array.Int64).Value(row)
		}
		figures, err := unpack(values[5:])
		if err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		st := air.Station{
			ID: text(0), City: text(1), State: text(2), Name: text(3), Source: text(4), Attribution: text(5), Licence: text(6),
			Latitude:  record.Column(texts).(*array.Float64).Value(row),
			Longitude: record.Column(texts + 1).(*array.Float64).Value(row),
			Kind:      air.StationKind(values[0]),
			FirstSeen: time.Unix(values[1], 0).UTC(), LastSeen: time.Unix(values[2], 0).UTC(),
		}
		if st.ID == "" {
			f.cities = append(f.cities, city{City: places.City{Name: st.City, State: st.State}, Figures: figures})
			continue
		}
		f.stations = append(f.stations, Station{Station: st, InCity: -1, cityHourUpdated: uint32(values[3]), cityHourAQI: int16(values[4]), Figures: figures})
	}
	return nil
}

// cityHourReport returns cityHourUpdated and cityHourAQI of the station, as the columns of a snapshot file.
func (s *Station) cityHourReport() [2]int64 {
	return [2]int64{int64(s.cityHourUpdated), int64(s.cityHourAQI)}
}

// cloned copies a string, so that it does not keep the buffer of the whole file in memory.
func cloned(s string) string { return string([]byte(s)) }
