package reconcile_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/csvfile"
	"vayu/pipeline/recharge/reconcile"
	"vayu/schema"
)

// parseCase is the file case.json of a folder under testdata/parse. Beside it lie
// input.csv, and lines.txt: a line for each line that input.csv yields,
// "number reference status amount id", or "number ! what is wrong with it".
type parseCase struct {
	About    string                      `json:"about"`
	Columns  map[string]string           `json:"columns"`
	Statuses map[string]reconcile.Status `json:"statuses"`
	Error    string                      `json:"error"` // part of the error of the file
}

// parsed returns the content of lines.txt for a file, and the error of the file.
func parsed(r io.Reader, l reconcile.Layout) (string, error) {
	var out strings.Builder
	for line, err := range reconcile.Parse(r, l) {
		if bad, ok := errors.AsType[*csvfile.LineError](err); ok {
			fmt.Fprintf(&out, "%d ! %s\n", bad.Number, bad.Text)
			continue
		}
		if err != nil {
			return out.String(), err
		}
		fmt.Fprintln(&out, strings.TrimSpace(fmt.Sprintf("%d %s %s %s %s", line.Number, line.Reference, line.Status, line.Amount, line.ID)))
	}
	return out.String(), nil
}

func TestParse(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/parse/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) == 0 {
		t.Fatal("there are no cases")
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			var c parseCase
			decoder := json.NewDecoder(bytes.NewReader(read(t, folder, "case.json")))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(&c); err != nil {
				t.Fatal(err)
			}
			got, err := parsed(bytes.NewReader(read(t, folder, "input.csv")), reconcile.Layout{Columns: c.Columns, Statuses: c.Statuses})
			if c.Error == "" && err != nil || c.Error != "" && (err == nil || !strings.Contains(err.Error(), c.Error)) {
				t.Errorf("got the error %v, want %q", err, c.Error)
			}
			want := ""
			if c.Error == "" {
				want = string(read(t, folder, "lines.txt"))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func read(tb testing.TB, folder, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// A line that is too long is reported with its number, and the following ones are read.
func TestLongLinesAreReported(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70_000)
	input := "ref,status,amount\n" + long + "\na,S,1\n" + long + long + "\nb,S,\"" + long + "\"\nc,S,1\n\"" + long
	got, err := parsed(strings.NewReader(input), reconcile.Layout{})
	want := "2 ! it is longer than 64 KiB\n3 a success 1\n4 ! it is longer than 64 KiB\n5 ! it is longer than 64 KiB\n6 c success 1\n7 ! it is longer than 64 KiB\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, lines (-want +got):\n%s", err, diff)
	}
	if _, err := parsed(strings.NewReader(long), reconcile.Layout{}); err == nil || !strings.Contains(err.Error(), "longer than 64 KiB") {
		t.Errorf("a header that is too long gave %v", err)
	}
}

// errDisk is the error of a reader that fails.
var errDisk = errors.New("the disk is broken")

func TestReadErrorEndsTheFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "ref,status,amount\n", "ref,status,amount\na,S,1\n"} {
		broken := io.MultiReader(strings.NewReader(text), failing{})
		if got, err := parsed(broken, reconcile.Layout{}); !errors.Is(err, errDisk) {
			t.Errorf("after %q: got %q and %v, want %v", text, got, err, errDisk)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errDisk }

// FuzzParse reads arbitrary files without a panic. Every line is complete, and the lines
// have the order of the file.
func FuzzParse(f *testing.F) {
	inputs, err := filepath.Glob("testdata/parse/*/input.csv")
	if err != nil {
		f.Fatal(err)
	}
	if len(inputs) == 0 {
		f.Fatal("there are no seeds")
	}
	for _, input := range inputs {
		f.Add(read(f, filepath.Dir(input), "input.csv"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := 1
		for line, err := range reconcile.Parse(bytes.NewReader(text), reconcile.Layout{}) {
			if bad, ok := errors.AsType[*csvfile.LineError](err); ok {
				line.Number = bad.Number
			} else if err != nil {
				if _, ok := errors.AsType[*csvfile.HeaderError](err); !ok {
					t.Errorf("the error of a file that can be read is %v", err)
				}
				continue
			} else if line.Reference == "" || line.Status == "" || line.Amount <= 0 {
				t.Errorf("a line with nothing in it: %+v", line)
			}
			if line.Number <= before {
				t.Errorf("line %d comes after line %d", line.Number, before)
			}
			before = line.Number
		}
		if most := bytes.Count(text, []byte{'\n'}) + 1; before > most && !utf16(text) {
			t.Errorf("line %d of %d", before, most)
		}
	})
}

func utf16(text []byte) bool {
	return bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff})
}

// FuzzCells checks that cells of a CSV writer are read unchanged.
func FuzzCells(f *testing.F) {
	f.Add("a remark", int64(19900), uint8(0))
	f.Add("one; \"two\"\nthree,", int64(1), uint8(1))
	f.Fuzz(func(t *testing.T, remark string, paise int64, by uint8) {
		if paise <= 0 || strings.Count(remark, "\n") > 10 || len(remark) > 10_000 || strings.Contains(remark, "\r") {
			return
		}
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.Comma = []rune{',', ';', '\t'}[by%3]
		for _, row := range [][]string{{"Remark", "Ref No", "Status", "Amount"}, {remark, "txn_1", "S", schema.Paise(paise).String()}} {
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		next, stop := pull(text.String())
		defer stop()
		first, err, _ := next()
		want := reconcile.Line{Number: 2, Reference: "txn_1", Status: reconcile.Success, Amount: schema.Paise(paise)}
		if err != nil || first != want {
			t.Errorf("%q was read as %+v, %v", text.String(), first, err)
		}
	})
}

// pull reads a file a line at a time.
func pull(text string) (next func() (reconcile.Line, error, bool), stop func()) {
	return iter.Pull2(reconcile.Parse(strings.NewReader(text), reconcile.Layout{}))
}
