// Package ifsc holds the Indian Financial System Codes and their banks. The list is that of the
// Reserve Bank of India, from the npm package ifsc. Package ifsc does no I/O. The list is embedded,
// in 74 KB, and takes 1.5 MB of memory from its first use (BenchmarkDecode).
package ifsc

import (
	"bytes"
	"compress/gzip"
	_ "embed" // codes.gz
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	prefix = 4  // length of the bank's letters in a code
	size   = 11 // length of a code
)

var form = regexp.MustCompile(`^[A-Za-z]{4}0[A-Za-z0-9]{6}$`)

// Parse reads an IFSC: four letters of the bank, a zero, and six letters or digits of the branch. The RBI reserves
// the fifth character for later use. Parse drops surrounding blanks and converts to upper case. For any other text,
// `ok` is false, for example if it has the letter O instead of the zero. [Find] checks that the code exists.
func Parse(text string) (code string, ok bool) {
	code = strings.Trim(text, " \t\r\n")
	if !form.MatchString(code) {
		return "", false
	}
	return strings.ToUpper(code), true
}

// Find reports whether a code exists, and returns the name of its bank. The code must come from Parse. A bank may
// have sublet the code to another bank, such as a co-operative bank. Then Find returns the name of that other bank.
// If the list has no name for a bank, Find returns the four letters of its codes.
func Find(code string) (bank string, ok bool) {
	if _, valid := Parse(code); !valid {
		return "", false
	}
	return codes().find(code)
}

// packed is the compressed list of codes. The command generate writes it from the npm package ifsc (see LICENSE-ifsc).
//
//go:embed codes.gz
var packed []byte

// nameBits is the number of low bits of an entry that hold the index of the bank's name. 14 bits suffice for 16,384
// names; the list has 1,100. The other 50 bits hold the code as a number below 26^4 · 36^6, which is less than 2^50.
const nameBits = 14

// table holds every code in 8 bytes: the code as a sortable number, then the index of the bank's name.
type table struct {
	entries []uint64
	names   []string
}

// codes returns the table of all codes. The first call decodes it.
var codes = sync.OnceValue(func() *table {
	text, err := unpacked(packed)
	if err != nil {
		return &table{} // cannot happen: a test looks up every embedded code
	}
	return newTable(text)
})

func unpacked(data []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// newTable reads the lines of the list: a bank's letters, its name, and the last six characters of its codes, in order.
// An entry omits the prefix that it shares with the entry before it: "000001 2 10" means 000001, 000002 and 000010.
func newTable(text string) *table {
	t := &table{}
	known := map[string]uint64{}
	var code [size]byte
	for line := range strings.Lines(text) {
		bank, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		name, tails, ok := strings.Cut(rest, "\t")
		if !ok || len(bank) != prefix {
			continue // the line with the version
		}
		at, seen := known[name]
		if !seen {
			at = uint64(len(t.names))
			known[name] = at
			t.names = append(t.names, strings.Clone(name)) // a copy, so that the text can be freed
		}
		copy(code[:], bank+"0")
		for tail := range strings.SplitSeq(tails, " ") {
			copy(code[size-len(tail):], tail)
			t.entries = append(t.entries, number(string(code[:]))<<nameBits|at)
		}
	}
	slices.Sort(t.entries)
	t.entries = slices.Clip(slices.Clone(t.entries))
	return t
}

// find returns the name of the bank of a well-formed code. It returns false if the code does not exist.
func (t *table) find(code string) (bank string, ok bool) {
	n := number(code)
	at, _ := slices.BinarySearch(t.entries, n<<nameBits)
	if at == len(t.entries) || t.entries[at]>>nameBits != n {
		return "", false
	}
	return t.names[t.entries[at]&(1<<nameBits-1)], true
}

// number encodes a well-formed IFSC as a number. The numbers have the same order as the codes.
func number(code string) (n uint64) {
	for i := range prefix {
		n = n*26 + uint64(code[i]-'A')
	}
	for i := prefix + 1; i < size; i++ {
		c := code[i]
		if c <= '9' {
			n = n*36 + uint64(c-'0')
		} else {
			n = n*36 + uint64(c-'A') + 10
		}
	}
	return n
}
