package alert

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestEmptyPlacesAreInvalid has places whose only field is an empty text. They once reached the search for a position.
func TestEmptyPlacesAreInvalid(t *testing.T) {
	t.Parallel()
	empty := ""
	for name, b := range map[string]placeBody{
		"city": {City: &empty}, "station": {Station: &empty}, "pincode": {Pincode: jsontext.Value(`""`)}, "nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f faults
			if p := f.place(&b); p != nil || len(f.RequestErrors) == 0 {
				t.Errorf("got place %+v with %d errors, want an error", p, len(f.RequestErrors))
			}
		})
	}
}
