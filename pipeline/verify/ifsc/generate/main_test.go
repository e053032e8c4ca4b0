package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"vayu/pipeline/verify/ifsc"
)

// pack is the folder of the npm package. Without it the tests skip, and fail when CI=true.
func pack(t *testing.T) string {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "..", "node_modules", "ifsc")
	if _, err := os.Stat(folder); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("npm's ifsc is not here: %v", err)
	}
	return folder
}

// TestListMatchesPackage compares the committed list with the package as text, because
// compression may differ between versions of Go.
func TestListMatchesPackage(t *testing.T) {
	t.Parallel()
	folder, file := pack(t), filepath.Join(t.TempDir(), "codes.gz")
	if err := run([]string{folder, file}); err != nil {
		t.Fatal(err)
	}
	if got, want := text(t, filepath.Join("..", "codes.gz")), text(t, file); !bytes.Equal(got, want) {
		t.Errorf("codes.gz has %d bytes and the list of the package %d, or others: run make ifsc", len(got), len(want))
	}
	license, err := os.ReadFile(filepath.Join(folder, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "LICENSE-ifsc"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, license) {
		t.Errorf("LICENSE-ifsc has %d bytes and that of the package %d, or others", len(got), len(license))
	}
}

func text(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestEveryCodeIsFound compares the decoded list with the package.
func TestEveryCodeIsFound(t *testing.T) {
	t.Parallel()
	s, err := read(pack(t))
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for letters, ends := range s.codes {
		for _, end := range ends {
			there[letters+"0"+string(end)] = true
		}
	}
	lent, nameless := 0, map[string]bool{}
	for code := range there {
		letters, want := code[:4], s.bank(code)
		if got, ok := ifsc.Find(code); !ok || got != want {
			t.Fatalf("Find(%s) = %q, %v, want %q", code, got, ok, want)
		}
		if want == letters {
			nameless[letters] = true
		} else if s.names[letters] != want {
			lent++
		}
		near := []byte(code)
		near[10] = '0' + (near[10]+1)%10
		if _, ok := ifsc.Find(string(near)); ok != there[string(near)] {
			t.Fatalf("%s: found is %v, and it is in the package: %v", near, ok, !ok)
		}
	}
	n := len(there)
	if n < 170_000 || lent < 1_000 || len(nameless) > 20 {
		t.Errorf("%d codes, %d of them lent, and no name for %d banks: is this the package?", n, lent, len(nameless))
	}
	t.Logf("%d codes of %d banks, %d lent, no name for %d", n, len(s.codes), lent, len(nameless))
}

// TestLongestSubletPrefixWins covers a sublet code, a sublet prefix, and a bank without a
// name.
func TestLongestSubletPrefixWins(t *testing.T) {
	t.Parallel()
	s := source{
		names:  map[string]string{"YESB": "Yes Bank", "ADCX": " Adinath \n Bank", "AUBX": "Another"},
		lent:   map[string]string{"YESB0ACB001": "AUBX"},
		begins: map[string]string{"YESB0ACB": "ADCX", "YESB0ACB9": "A Bank by Name"},
	}
	for code, want := range map[string]string{
		"YESB0000001": "Yes Bank", "YESB0ACB001": "Another", "YESB0ACB002": "Adinath Bank", "YESB0ACB901": "A Bank by Name", "NHBA0000001": "NHBA",
	} {
		if got := s.bank(code); got != want {
			t.Errorf("the bank of %s is %q, want %q", code, got, want)
		}
	}
}

func TestInvalidPackageIsRefused(t *testing.T) {
	t.Parallel()
	if err := run(nil); err == nil {
		t.Error("no arguments are taken")
	}
	if err := run([]string{t.TempDir(), filepath.Join(t.TempDir(), "x.gz")}); err == nil {
		t.Error("an empty folder is taken")
	}
	var s suffix
	if err := s.UnmarshalJSON([]byte("1234567")); err == nil {
		t.Error("a branch of seven digits is taken")
	}
}
