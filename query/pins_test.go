package query_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"vayu/query"
	"vayu/query/places"
)

// regionalOffices is the file of post offices with those of Delhi, Surat, Pune, Kochi and Port Blair. The whole file,
// which tests of package places read, takes many times as long to load.
var regionalOffices = sync.OnceValues(func() ([]byte, error) {
	path, err := places.FindPinFile("")
	if err != nil {
		return nil, err
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	var offices [][]byte
	for office := range bytes.SplitSeq(bytes.Trim(all, "[{}]\n"), []byte("},{")) {
		if _, pin, ok := bytes.Cut(office, []byte(`"p":"`)); ok && slices.Contains([]string{"11", "39", "41", "68", "74"}, string(pin[:2])) {
			offices = append(offices, office)
		}
	}
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, err = w.Write(slices.Concat([]byte("[{"), bytes.Join(offices, []byte("},{")), []byte("}]")))
	err = errors.Join(err, w.Close())
	return file.Bytes(), err
})

// usePins configures the pin codes of regionalOffices.
func usePins(t testing.TB) func(*query.Config) {
	t.Helper()
	file, err := regionalOffices()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pincodes.json.gz")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *query.Config) { c.PinFile = path }
}
