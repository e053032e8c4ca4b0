package file

import (
	"fmt"
	"io"

	"github.com/xuri/excelize/v2"

	"vayu/ingest"
	"vayu/ingest/source/file/table"
	"vayu/internal/panics"
)

// maxUnzipped is the largest accepted size of an unpacked workbook, in bytes. The largest known workbook of the portal
// has 2.6 MB. A workbook with Excel's maximum of a million rows has about 200 MB if it has eight columns.
const maxUnzipped = 256 << 20

// parseExcel reads an Excel export of the CAAQM portal. The position of a row is the number of rows before it, counted
// across all sheets. The Excel library panics for some damaged workbooks. For them, parseExcel returns an error.
func parseExcel(in *table.Input, b *ingest.Builder) (err error) {
	text, err := in.Text()
	if err != nil {
		return err
	}
	defer text.Close()
	book, err := openBook(table.Limit(text))
	if err != nil {
		return err
	}
	defer book.Close()
	n := int64(0)
	for _, sheet := range book.GetSheetList() {
		if n, err = readSheet(book, sheet, n, in.Start, b); err != nil {
			return err
		}
	}
	b.At(n)
	return nil
}

func openBook(r io.Reader) (book *excelize.File, err error) {
	err = panics.Catch(func() (err error) {
		book, err = excelize.OpenReader(r, excelize.Options{
			RawCellValue: true, UnzipSizeLimit: maxUnzipped, UnzipXMLSizeLimit: maxUnzipped,
		})
		return err
	})
	if err != nil {
		return nil, ingest.BadReplyf("the workbook is damaged, or cannot be opened: %v", err)
	}
	return book, nil
}

// readSheet reads the rows of a sheet. n is the number of the sheet's first row, counted across all sheets. `start` is
// the number of the first row whose readings are wanted. readSheet returns the number of the row after the sheet.
func readSheet(book *excelize.File, sheet string, n, start int64, b *ingest.Builder) (int64, error) {
	rows, err := book.Rows(sheet)
	if err != nil {
		return n, ingest.BadReplyf("sheet %q: %v", sheet, err)
	}
	defer rows.Close()
	e := newExport()
	var cells [][]byte
	for {
		values, more, err := nextRow(rows)
		if err != nil {
			return n, fmt.Errorf("sheet %q: %w", sheet, err)
		}
		if !more {
			return n, nil
		}
		cells = cells[:0]
		for _, v := range values {
			cells = append(cells, []byte(v))
		}
		if n >= start {
			b.At(n)
		}
		if err := e.read(cells, n < start, b); err != nil {
			return n, err
		}
		n++
	}
}

func nextRow(rows *excelize.Rows) (values []string, more bool, err error) {
	err = panics.Catch(func() (err error) {
		if more = rows.Next(); !more {
			return rows.Error()
		}
		values, err = rows.Columns()
		return err
	})
	if err != nil {
		return nil, false, ingest.BadReplyf("the sheet is damaged: %v", err)
	}
	return values, more, nil
}
