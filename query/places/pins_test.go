package places_test

import (
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vayu/query/places"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pincodes.json.gz")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(file)
	_, err = z.Write([]byte(text))
	if err := errors.Join(err, z.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPinPositionsAreMediansOfOffices(t *testing.T) {
	t.Parallel()
	pins := places.NewPins()
	if _, _, err := pins.Find(411004); !errors.Is(err, places.ErrNoPins) {
		t.Errorf("before the table is read: %v", err)
	}
	path := write(t, `[
		{"p":"411004","a":18.51,"n":73.83},{"p":"411004","a":18.52,"n":73.84},{"p":"411004","a":81.5,"n":18.5},{"p":"411004","a":0,"n":0},
		{"p":"411004","a":18.53,"n":73.99},
		{"p":"411005","a":12.97,"n":77.59},{"p":"411006","a":null,"n":null},{"p":"411006"},
		{"p":"999001","a":0,"n":0},{"p":"12345","a":18,"n":73},{"p":"011004","a":18,"n":73},
		{"p":"411007","a":18.55,"n":73.80}]`)
	if err := pins.Load(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for code, want := range map[int32]places.Point{
		411004: {Latitude: 18.52, Longitude: 73.84},   // the median of those in India
		411005: {Latitude: 18.525, Longitude: 73.835}, // 700 km from its district: the district's median
		411006: {Latitude: 18.525, Longitude: 73.835}, // no position of its own
	} {
		pin, ok, err := pins.Find(code)
		if err != nil || !ok || places.Distance(pin.Position, want) > 2 {
			t.Errorf("%d is at %v, want %v (%v %v)", code, pin.Position, want, ok, err)
		}
	}
	for _, code := range []int32{999001, 123456} {
		if _, ok, _ := pins.Find(code); ok {
			t.Errorf("%d has a position", code)
		}
	}
	if pins.Len() != 4 {
		t.Errorf("%d pin codes, want 4", pins.Len())
	}
}

func TestPinFileOfThePackage(t *testing.T) {
	t.Parallel()
	path, err := places.FindPinFile("")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	pins := places.NewPins()
	if err := pins.Load(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if pins.Len() < 19_000 {
		t.Errorf("%d pin codes", pins.Len())
	}
	for code, want := range map[int32]places.Point{
		411004: {Latitude: 18.513, Longitude: 73.837}, 110001: {Latitude: 28.62, Longitude: 77.21}, 744101: {Latitude: 11.67, Longitude: 92.74},
	} {
		pin, ok, err := pins.Find(code)
		if d := places.Distance(pin.Position, want); err != nil || !ok || d > 3 {
			t.Errorf("%d is %.1f km off (%v %v)", code, d, ok, err)
		}
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[", `[{"p":"411004","a":18.5`, `[{"p":5}]`, `[{"p":"411004","a":"x","n":"y"}]`} {
		if err := places.NewPins().Load(t.Context(), write(t, text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := places.NewPins().Load(t.Context(), plain); err == nil {
		t.Error("a file that is not compressed was read")
	}
}

func FuzzParsePin(f *testing.F) {
	for _, s := range []string{"110001", "011001", "", "1100011", "११०००१", "-11001", "1e5000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, ok := places.ParsePin(s); ok && (n < 100_000 || n > 999_999 || len(s) != 6) {
			t.Errorf("%q gives %d", s, n)
		}
	})
}
