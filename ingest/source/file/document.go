package file

import (
	"encoding/json"
	"io"

	"vayu/ingest"
	"vayu/ingest/source/file/table"
)

// reply is the JSON that the CAAQM portal sends to its own web page, with only the fields that parseJSON uses.
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

// parseJSON reads a saved reply of the CAAQM portal. It counts positions in the file, such as in.Start, in table rows.
func parseJSON(in *table.Input, b *ingest.Builder) error {
	text, err := in.Text()
	if err != nil {
		return err
	}
	defer text.Close()
	body, err := io.ReadAll(table.Limit(text))
	if err != nil {
		return err
	}
	var r reply
	if err := json.Unmarshal(body, &r); err != nil {
		return ingest.BadReplyf("not the portal's JSON: %v", err)
	}
	if r.Data.Table == nil {
		return ingest.BadReplyf("the reply has no table")
	}
	e := newExport()
	e.begin(r.Data.Table.Title)
	cells := make([][]byte, len(r.Data.Table.Header))
	for i, h := range r.Data.Table.Header {
		cells[i] = []byte(h.Value)
	}
	if !table.HeaderOf(cells).Span() {
		return ingest.BadReplyf("the table's header lacks From Date, To Date or a pollutant")
	}
	e.skipRemark(cells, b)
	for n, row := range r.Data.Table.Body {
		for i, h := range r.Data.Table.Header {
			cells[i] = table.Scalar(row[h.Key])
		}
		before := int64(n) < in.Start
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
