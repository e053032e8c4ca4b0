package places_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/query/places"
	"vayu/schema"
)

func india() *places.Index {
	return places.NewIndex([]places.City{
		{Name: "Delhi", State: "Delhi"}, {Name: "Aurangabad", State: "Bihar"}, {Name: "Aurangabad", State: "Maharashtra"},
		{Name: "Mumbai", State: "Maharashtra"}, {Name: "Navi Mumbai", State: "Maharashtra"}, {Name: "Pimpri-Chinchwad", State: "Maharashtra"},
		{Name: "Byrnihat", State: "Meghalaya"}, {Name: "Nowhere", State: ""}, {Name: "Nowhere", State: "Goa"}, {Name: "Bengaluru", State: "Karnataka"},
	})
}

func TestFindByAnyName(t *testing.T) {
	t.Parallel()
	x := india()
	for name, want := range map[string]string{
		"Delhi": "Delhi", "dilli": "Delhi", "NEW  DELHI": "Delhi", "Bombay": "Mumbai", "मुंबई": "Mumbai", "navimumbai": "Navi Mumbai",
		"Pimpri Chinchwad": "Pimpri-Chinchwad", "PCMC": "Pimpri-Chinchwad", "Aurangabad, Bihar": "Aurangabad, Bihar",
		"Aurangabad Maharashtra": "Aurangabad, Maharashtra", "Sambhajinagar": "Aurangabad, Maharashtra", "Bangalore, Karnataka": "Bengaluru",
		// Byrnihat is in two states and is one city.
		"byrnihat": "Byrnihat", "Byrnihat, Assam": "Byrnihat",
		// The same place described once without its state.
		"Nowhere": "Nowhere, Goa", "nowhere goa": "Nowhere, Goa",
	} {
		i, err := x.Find(name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := x.Label(i); got != want {
			t.Errorf("%q gives %q, want %q", name, got, want)
		}
	}
}

func TestFindErrorsOfferAlternatives(t *testing.T) {
	t.Parallel()
	x := india()
	for name, want := range map[string]schema.Problem{
		"Aurangabad":   {Code: schema.AmbiguousLocation, Candidates: []string{"Aurangabad, Bihar", "Aurangabad, Maharashtra"}},
		"Mumbay":       {Code: schema.LocationNotFound, Suggestions: []string{"Mumbai"}},
		"Dehli NCR":    {Code: schema.LocationNotFound, Suggestions: []string{"Delhi"}},
		"Banglaore":    {Code: schema.LocationNotFound, Suggestions: []string{"Bengaluru"}},
		"Navi":         {Code: schema.LocationNotFound, Suggestions: []string{"Navi Mumbai"}},
		"Delhi, Goa":   {Code: schema.LocationNotFound},
		"<b>Delhi</b>": {Code: schema.LocationNotFound},
		"":             {Code: schema.LocationNotFound},
		"Chennai":      {Code: schema.NoData},
	} {
		_, err := x.Find(name)
		var p *schema.Problem
		if !errors.As(err, &p) {
			t.Fatalf("%q: %v", name, err)
		}
		got := schema.Problem{Code: p.Code, Candidates: p.Candidates, Suggestions: p.Suggestions}
		if want.Suggestions == nil && want.Code == schema.LocationNotFound {
			got.Suggestions = nil // any suggestions will do
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestFindDoesNotAllocate(t *testing.T) {
	x := india()
	if n := testing.AllocsPerRun(100, func() { _, _ = x.Find("New Delhi") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"Delhi", "", "aurangabad", "\xff", "दिल्ली", "a very long name of a city that does not exist anywhere"} {
		f.Add(s)
	}
	x := india()
	f.Fuzz(func(t *testing.T, name string) {
		i, err := x.Find(name)
		var p *schema.Problem
		if err != nil && !errors.As(err, &p) {
			t.Errorf("%q: %v", name, err)
		}
		if p != nil && len(p.Suggestions) > 5 {
			t.Errorf("%q: %d suggestions", name, len(p.Suggestions))
		}
		if err == nil && x.City(i).Name == "" {
			t.Errorf("%q gives city %d", name, i)
		}
	})
}
