package upi

import (
	_ "embed" // handles.csv
	"strings"
	"sync"
)

//go:embed handles.csv
var handlesCSV string

// handles returns the bank of each handle. A handle is the part of a UPI address after the @.
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

// Bank returns the bank to which NPCI assigned the handle of an address, which must be as Parse
// returns it. The account may be with another bank, which only a lookup of the address shows. ok
// is false if the table (handles.csv) does not have the handle. New handles appear every month.
func Bank(vpa string) (bank string, ok bool) {
	_, handle, _ := strings.Cut(vpa, "@")
	bank, ok = handles()[handle]
	return bank, ok
}
