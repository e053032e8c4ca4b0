package chaos

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// Print prints the processes and their addresses.
func (c *Cluster) Print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, address string, pid any, does string) {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%v\t%s\n", name, address, pid, does)
	}
	row("NAME", "ADDRESS", "PID", "ROLES")
	row("balancer", c.URL, os.Getpid(), "in front of api-1 and api-2")
	for _, i := range c.Instances {
		row(i.Name, i.Address, i.PID(), strings.Join(i.Roles, ","))
	}
	_, at, _ := strings.Cut(c.engineURL, "@")
	row("engine", strings.TrimSuffix(at, "/"), c.Engine.PID(), "ClickHouse")
	pid, err := c.PostgresPID()
	if err != nil {
		return err
	}
	row("postgres", c.postgres, pid, "state store; instances reach it at "+c.Store.Address())
	for n, at := range c.Brokers {
		pid, err := c.brokerPID(n + 1)
		if err != nil {
			return err
		}
		row(fmt.Sprint("kafka-", n+1), at, pid, "broker and controller")
	}
	return table.Flush()
}
