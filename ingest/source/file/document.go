package file

import (
	"encoding/json"
	"io"
	"strings"

	"vayu/ingest"
)

// maxDocument is the largest document that is read as a whole. The portal's
// largest known export has 0.4 MB.
const maxDocument = 64 << 20

// limited rejects a document longer than [maxDocument] instead of truncating it.
func limited(r io.Reader) io.Reader { return &limitedReader{r, maxDocument} }

type limitedReader struct {
	in   io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, refuse("the document exceeds %d bytes", maxDocument)
	}
	return n, err
}

// reply is the CAAQM portal's reply to its own page, without the fields that are
// not needed.
type reply struct {
	Data struct {
		Table *struct {
			Title  string `json:"title"`
			Header []struct {
				Key   string `json:"key"`
				Value string `json:"value"`
			} `json:"header"`
			Body []map[string]json.RawMessage `json:"bodyContent"`
		} `json:"tabularData"`
	} `json:"data"`
}

// parseJSON reads a saved reply of the CAAQM portal. Positions are row numbers.
func parseJSON(in *source, b *ingest.Builder) error {
	text, err := in.text()
	if err != nil {
		return err
	}
	defer text.Close()
	body, err := io.ReadAll(limited(text))
	if err != nil {
		return err
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		return refuse("not the portal's JSON: %v", err)
	}
	if r.Data.Table == nil {
		return refuse("the reply has no table")
	}
	e := newExport()
	e.begin(r.Data.Table.Title)
	cells := make([][]byte, len(r.Data.Table.Header))
	for i, h := range r.Data.Table.Header {
		cells[i] = []byte(h.Value)
	}
	if !headerOf(cells).span() {
		return refuse("the table's header lacks From Date, To Date or a pollutant")
	}
	e.skipRemark(cells)
	for n, row := range r.Data.Table.Body {
		for i, h := range r.Data.Table.Header {
			cells[i] = scalar(row[h.Key])
		}
		before := int64(n) < in.start
		if !before {
			b.At(int64(n))
		}
		if err := e.read(cells, before, b); err != nil {
			return err
		}
	}
	b.At(int64(len(r.Data.Table.Body)))
	return nil
}

// scalar returns a JSON string or number as text, and nil for anything else.
func scalar(raw json.RawMessage) []byte {
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' {
		return nil
	}
	if raw[0] != '"' {
		return raw
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	return []byte(strings.TrimSpace(text))
}
