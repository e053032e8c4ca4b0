package param_test

import (
	"errors"
	"testing"

	"vayu/query/param"
	"vayu/query/places"
	"vayu/schema"
)

// A text is either a box whose sides are in order and on the Earth, or a problem with the field bbox. A box has the
// positions of its corners.
func FuzzParseBox(f *testing.F) {
	for _, text := range []string{
		"76.8,28.4,77.4,28.9", "28.4,76.8,28.9,77.4", "-180,-90,180,90", "170,-10,-170,10", " 1 , 2 , 3 , 4 ", "1,2,3",
		"-0,-.5,.5,5.", "NaN,1,2,3", "1e300,1,1,1", "0x1p4,1,2,3", "--1,2,3,4", "1_0,2,3,4", "१,२,३,४", ",,,", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := param.ParseBox(text)
		if err != nil {
			if p, ok := errors.AsType[*schema.Problem](err); !ok {
				t.Errorf("got error %v, want a problem", err)
			} else if p.Field != "bbox" || p.Message == "" {
				t.Errorf("got a problem of %q with the message %q, want one of bbox with a message", p.Field, p.Message)
			}
			return
		}
		if !(-180 <= b.West && b.West <= b.East && b.East <= 180 && -90 <= b.South && b.South <= b.North && b.North <= 90) {
			t.Errorf("%q gives the box %+v", text, b)
		}
		for _, p := range []places.Point{{Latitude: b.South, Longitude: b.West}, {Latitude: b.North, Longitude: b.East}} {
			if p.Known() && !b.Contains(p) {
				t.Errorf("the box of %q lacks its corner %v", text, p)
			}
		}
	})
}
