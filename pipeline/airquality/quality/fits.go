package quality

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// WriteFits writes the latest fit of each sensor of a database to its nearby reference station, as a table.
func WriteFits(ctx context.Context, conn driver.Conn, database string, w io.Writer) error {
	rows, err := conn.Query(ctx, `SELECT sensor, reference, hours, slope, humidity, intercept, error, error_raw, r2 FROM `+database+`.colocation FINAL
		ORDER BY sensor, fitted_at DESC LIMIT 1 BY sensor`)
	if err != nil {
		return fmt.Errorf("reading the fits: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "SENSOR\tREFERENCE\tHOURS\tSLOPE\tHUMIDITY\tINTERCEPT\tERROR\tRAW ERROR\tR2")
	for rows.Next() {
		var sensor, reference string
		var hours uint32
		var slope, humidity, intercept, left, raw, r2 float64
		if err := rows.Scan(&sensor, &reference, &hours, &slope, &humidity, &intercept, &left, &raw, &r2); err != nil {
			return fmt.Errorf("reading the fits: %w", err)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%d\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\t%.3f\n", sensor, reference, hours, slope, humidity, intercept, left, raw, r2)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading the fits: %w", err)
	}
	return out.Flush()
}
