package ops

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/schema"
	"vayu/schema/air"
)

// NewSource returns the command `vayu source`.
func NewSource() *cobra.Command {
	cmd := &cobra.Command{Use: "source", Short: "List and test the sources of readings"}
	settings.Bind(cmd.PersistentFlags(), "source-dir")
	cmd.AddCommand(newSourceList(), newSourceTest())
	return cmd
}

func newSourceList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the sources",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, _, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			all, err := loaded.Value.Catalogue()
			if err != nil {
				return err
			}
			out := tool.NewTable(cmd.OutOrStdout(), "NAME\tWORLD\tACTIVE\tSCHEDULE\tWHAT IT IS")
			for _, name := range all.Names() {
				entry := all.Entry(name)
				active := entry.World == schema.Sandbox || slices.Contains(loaded.Value.Sources, name)
				_, _ = fmt.Fprintf(out, "%s\t%s\t%v\t%s\t%s\n", name, entry.World, active, entry.Feed.Schedule, entry.About)
			}
			return out.Flush()
		},
	}
}

// testWindow is the length of the time range that `source test` fetches. The range ends now.
const testWindow = 24 * time.Hour

func newSourceTest() *cobra.Command {
	var most int
	cmd := &cobra.Command{
		Use:   "test NAME",
		Short: "Fetch a source once and show its readings and rejections; nothing is stored",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			loaded, _, err := settings.Load(cmd)
			if err != nil {
				return err
			}
			all, err := loaded.Value.Catalogue()
			if err != nil {
				return err
			}
			src, err := all.New(args[0], time.Now)
			if err != nil {
				return err
			}
			now := time.Now()
			sample, err := runner.FetchSample(cmd.Context(), src, ingest.Window{From: now.Add(-testWindow), To: now})
			if err != nil && len(sample.Readings) == 0 {
				return err
			}
			return errors.Join(showSample(cmd.OutOrStdout(), sample, most), err)
		},
	}
	cmd.Flags().IntVar(&most, "rows", 50, "show at most so many readings")
	return cmd
}

func showSample(w io.Writer, s runner.Sample, most int) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Readings) > 0 {
		_, _ = fmt.Fprintln(out, "STATION\tPOLLUTANT\tAT (UTC)\tVALUE\tUNIT\tKIND\tMINUTES\tFLAG")
	}
	for _, r := range s.Readings[:min(most, len(s.Readings))] {
		unit := r.Parameter.Unit()
		if r.Kind == air.SubIndex {
			unit = "of 500"
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%v\t%s\t%s\t%d\t%s\n", r.Station, r.Parameter.Name(),
			r.At.UTC().Format("2006-01-02 15:04"), r.Value, unit, r.Kind, r.Averaging, r.Flag)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the readings: %w", err)
	}
	_, err := fmt.Fprintf(w, "%d readings of %d stations%s\n", len(s.Readings), len(s.Stations), newest(s.Readings, time.Now()))
	showRejections(w, s.Rejected)
	showValues(w, s.Values)
	return err
}

// newest returns a text about the age of the newest reading, because a source may return only old readings.
func newest(readings []air.Reading, now time.Time) string {
	if len(readings) == 0 {
		return ""
	}
	last := slices.MaxFunc(readings, func(a, b air.Reading) int { return a.At.Compare(b.At) }).At
	return fmt.Sprintf(", the newest of %s UTC (%s ago)", last.UTC().Format("2006-01-02 15:04"), now.Sub(last).Round(time.Minute))
}

// shownValues is how many rejected values of each reason `source test` shows.
const shownValues = 3

// showValues prints the first rejected values of each reason.
func showValues(w io.Writer, values []ingest.RejectedValue) {
	shown := make(ingest.Rejections)
	for _, v := range values {
		if shown[v.Reason] == shownValues {
			continue
		}
		shown.Add(v.Reason, 1)
		_, _ = fmt.Fprintf(w, "%s, record %d, %s: %s\n", v.Reason, v.Line, cmp.Or(v.Field, "whole record"), strings.Join(strings.Fields(v.Raw), " "))
	}
}

// showRejections prints how many values were rejected for each reason, the most frequent reason first.
func showRejections(w io.Writer, rejected ingest.Rejections) {
	reasons := slices.SortedFunc(maps.Keys(rejected), func(a, b ingest.Reason) int { return rejected[b] - rejected[a] })
	for _, reason := range reasons {
		_, _ = fmt.Fprintf(w, "%9d rejected: %s\n", rejected[reason], reason)
	}
}
