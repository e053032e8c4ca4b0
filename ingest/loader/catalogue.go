package loader

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/internal/columnstore"
	"vayu/schema/parameter"
)

// catalogueColumns are the columns of the table `parameter` that [WriteCatalogue] writes.
var catalogueColumns = []clickhouse.ColumnNameAndType{
	{Name: "id", Type: "String"}, {Name: "name", Type: "String"}, {Name: "unit", Type: "String"},
	{Name: "substance_group", Type: "String"}, {Name: "in_index", Type: "Bool"},
	{Name: "molar_mass", Type: "Float64"}, {Name: "least", Type: "Float64"}, {Name: "most", Type: "Float64"},
}

// WriteCatalogue updates the table `parameter` to the parameters of this program. It writes nothing if every row is
// current. It never removes a row, because stored readings may refer to it.
func WriteCatalogue(ctx context.Context, conn driver.Conn, database string) error {
	stored, err := storedCatalogue(ctx, conn, database)
	if err != nil {
		return fmt.Errorf("reading the catalogue of parameters: %w", err)
	}
	var (
		id, name, unit, group []string
		inIndex               []bool
		mass, least, most     []float64
	)
	for p := range parameter.All() {
		low, high := p.Range()
		if stored[catalogueRow(p)] {
			continue
		}
		id, name, unit = append(id, p.ID()), append(name, p.Name()), append(unit, p.Unit())
		group, inIndex = append(group, string(p.Group())), append(inIndex, p.Indexed())
		mass, least, most = append(mass, p.MolarMass()), append(least, low), append(most, high)
	}
	if len(id) == 0 {
		return nil
	}
	err = columnstore.Insert(ctx, conn, database+".parameter", columnstore.NewToken(), catalogueColumns,
		[]any{id, name, unit, group, inIndex, mass, least, most})
	if err != nil {
		return fmt.Errorf("storing %d parameters: %w", len(id), err)
	}
	return nil
}

// catalogueRow returns all values of a row as one text, to compare rows.
func catalogueRow(p parameter.Parameter) string {
	least, most := p.Range()
	return fmt.Sprint([]any{p.ID(), p.Name(), p.Unit(), string(p.Group()), p.Indexed(), p.MolarMass(), least, most})
}

func storedCatalogue(ctx context.Context, conn driver.Conn, database string) (map[string]bool, error) {
	rows, err := conn.Query(ctx, "SELECT id, name, unit, substance_group, in_index, molar_mass, least, most FROM "+database+".parameter FINAL")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	stored := make(map[string]bool)
	for rows.Next() {
		var (
			id, name, unit, group string
			inIndex               bool
			mass, least, most     float64
		)
		if err := rows.Scan(&id, &name, &unit, &group, &inIndex, &mass, &least, &most); err != nil {
			return nil, err
		}
		stored[fmt.Sprint([]any{id, name, unit, group, inIndex, mass, least, most})] = true
	}
	return stored, rows.Err()
}
