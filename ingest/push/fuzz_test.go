package push

import (
	"os"
	"testing"
	"time"

	"vayu/ingest"
)

// arrowFile returns a stream that pyarrow has written.
func arrowFile(tb testing.TB) []byte {
	tb.Helper()
	text, err := os.ReadFile("../arrowstream/testdata/pyarrow.arrow")
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// FuzzDecode decodes arbitrary bodies of every type. Nothing may panic, and an accepted
// reading must pass the rules.
func FuzzDecode(f *testing.F) {
	types := []string{"", ndjsonType, csvType, arrowType}
	f.Add(uint8(0), []byte(`{"readings":[{"station":"a","parameter":"pm25","value":1,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}]}`))
	f.Add(uint8(1), []byte(`{"station":"a","parameter":"pm25","value":1e309,"unit":"ug/m3","at":"2026-11-20T08:30:00Z"}`+"\n7"))
	f.Add(uint8(2), []byte("station,parameter,value,unit,at\na,pm25,NaN,ug/m3,2026-11-20T08:30:00Z\n\"a"))
	f.Add(uint8(3), arrowFile(f))
	now := time.Date(2026, 11, 20, 9, 12, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		rows, err := decode(types[int(kind)%len(types)], body)
		if err != nil {
			return
		}
		for i := range rows {
			if _, wrong := rows[i].registers(); wrong != nil && wrong.message == "" {
				t.Errorf("row %d: a rejected position has no message", i)
			}
			reading, wrong := rows[i].reading(now)
			if wrong != nil {
				if wrong.message == "" || wrong.reason == ingest.None {
					t.Errorf("row %d: the rejection %+v is not complete", i, wrong)
				}
				continue
			}
			if reason := ingest.Check(&reading, now); reason != ingest.None {
				t.Errorf("row %d: accepted a reading that is %q", i, reason)
			}
		}
	})
}
