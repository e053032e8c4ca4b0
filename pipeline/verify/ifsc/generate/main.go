// Command generate writes the list of codes of package ifsc from the npm package ifsc:
// generate FOLDER FILE, where FOLDER is node_modules/ifsc. `make ifsc` runs it.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want the folder of the npm package and the file to write, got %q", args)
	}
	text, err := list(args[0])
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the header has no time and no file name, so the output is reproducible
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(args[1], packed.Bytes(), 0o600) //nolint:gosec // the file that make passes
}

// source is the content of the npm package. A bank's letters are the first four letters of its codes.
type source struct {
	version string
	codes   map[string][]suffix // IFSC.json: the codes of a bank, by its letters
	names   map[string]string   // banknames.json: the name of a bank, by its letters
	lent    map[string]string   // sublet.json, from NPCI: the bank that a code is sublet to, by code
	begins  map[string]string   // custom-sublets.json, from the authors: a bank's letters or name, by prefix of codes
}

// suffix is the last six characters of an IFSC.
type suffix string

// UnmarshalJSON reads a suffix. In JSON, a suffix that has only digits may be a number without leading zeros.
func (s *suffix) UnmarshalJSON(text []byte) error {
	word := strings.Trim(string(text), `"`)
	if len(word) > 6 {
		return fmt.Errorf("the branch %s has more than six characters", text)
	}
	*s = suffix(strings.Repeat("0", 6-len(word)) + word)
	return nil
}

func read(folder string) (s source, err error) {
	var about struct{ Version string }
	for name, into := range map[string]any{
		"package.json": &about, "src/IFSC.json": &s.codes, "src/banknames.json": &s.names,
		"src/sublet.json": &s.lent, "src/custom-sublets.json": &s.begins,
	} {
		text, err := os.ReadFile(filepath.Join(folder, name)) //nolint:gosec // the folder that make passes
		if err != nil {
			return s, err
		}
		if err := json.Unmarshal(text, into); err != nil {
			return s, fmt.Errorf("reading %q: %w", name, err)
		}
	}
	s.version = about.Version
	return s, nil
}

// bank returns the name of a code's bank. If that bank has sublet the code, or a prefix of the
// code, the result is the name of the bank that uses the code. A longer prefix takes precedence.
func (s *source) bank(code string) string {
	holder := code[:4]
	for n := range len(code) + 1 {
		if lent, ok := s.begins[code[:n]]; ok {
			holder = lent
		}
	}
	if lent, ok := s.lent[code]; ok {
		holder = lent
	}
	name, ok := s.names[holder]
	if !ok {
		name = holder
	}
	return strings.Join(strings.Fields(name), " ")
}

// list returns the text of the output file. Its first line has the version of the npm package. Each further line is
// for a pair of a bank's letters and a name:
//
//	letters TAB name TAB the suffixes in order, with blanks between
//
// Each suffix omits the prefix that it shares with the suffix before it, but never its last
// character. So the suffixes 000001, 000002 and 000010 are written "000001 2 10".
func list(folder string) ([]byte, error) {
	s, err := read(folder)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "npm ifsc %s\n", s.version)
	for _, letters := range slices.Sorted(maps.Keys(s.codes)) {
		held := map[string][]string{}
		for _, end := range s.codes[letters] {
			name := s.bank(letters + "0" + string(end))
			held[name] = append(held[name], string(end))
		}
		for _, name := range slices.Sorted(maps.Keys(held)) {
			slices.Sort(held[name])
			fmt.Fprintf(&out, "%s\t%s\t%s\n", letters, name, strings.Join(shortened(slices.Compact(held[name])), " "))
		}
	}
	return out.Bytes(), nil
}

// shortened removes from each suffix its common prefix with the suffix before it. At least one character remains.
func shortened(ends []string) []string {
	short := make([]string, len(ends))
	before := "      "
	for i, end := range ends {
		alike := 0
		for alike < len(end)-1 && end[alike] == before[alike] {
			alike++
		}
		short[i], before = end[alike:], end
	}
	return short
}
