package upi

import (
	_ "embed" // handles.csv
	"strings"
	"sync"
)

//go:embed handles.csv
var handlesCSV string

// handles is the bank of each handle.
var handles = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for line := range strings.Lines(handlesCSV) {
		bank, all, ok := strings.Cut(strings.TrimSpace(line), ",")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for handle := range strings.FieldsSeq(all) {
			table[handle] = bank
		}
	}
	return table
})

// Bank is the bank that an address, as Parse returns it, is kept with: the one that
// NPCI has given the handle to. The account behind the address may be with another,
// which only the answer of a bank says. It is not ok for a handle that the table
// (handles.csv) does not have: new ones come every month.
func Bank(vpa string) (bank string, ok bool) {
	_, handle, _ := strings.Cut(vpa, "@")
	bank, ok = handles()[handle]
	return bank, ok
}
