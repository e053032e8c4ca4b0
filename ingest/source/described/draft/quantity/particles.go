package quantity

import (
	"fmt"

	"vayu/ingest/source/described/draft/sample"
)

// doubtful reports whether a name is p1 or p2. In replies of Sensor.Community, p1 is PM10 and p2 is PM2.5. Other
// networks use these names the other way round, or for other parameters.
func doubtful(name string) bool {
	name = sample.Fold(name)
	return name == "p1" || name == "p2"
}

// valuesOfCommunity is the path of the list of values by which records of Sensor.Community are recognised.
const valuesOfCommunity = "sensordatavalues"

// Named is a quantity with its name and its values in a reply.
type Named struct {
	*Quantity

	Name   string
	Values *sample.Field
}

// TellParticles decides which of the names p1 and p2 means PM10, and explains the decision in Doubt. It does not change
// quantities with other names, or those of Sensor.Community, whose meaning is known. `each` is the path of the list of
// values in a record.
func TellParticles(each string, named []Named) {
	if each == valuesOfCommunity {
		return
	}
	var all []Named
	for _, one := range named {
		if one.Doubtful {
			all = append(all, one)
		}
	}
	if len(all) != 2 || all[0].Parameter == all[1].Parameter {
		for _, one := range all {
			one.Doubt = fmt.Sprintf("%s is %s in replies of Sensor.Community, and may be another elsewhere", one.Name, one.Parameter.Name())
		}
		return
	}
	low, high := all[0], all[1]
	if low.Parameter.ID() == "pm10" {
		low, high = high, low
	}
	least, some := low.Values.Median()
	most, others := high.Values.Median()
	if !some || !others || least == most {
		low.Doubt = fmt.Sprintf("as in replies of Sensor.Community; the values of %s and %s do not tell which is PM10", low.Name, high.Name)
		high.Doubt = low.Doubt
		return
	}
	if least > most {
		low.Parameter, high.Parameter = high.Parameter, low.Parameter
		low, high = high, low
	}
	// PM10 includes PM2.5, so a concentration of PM10 is never lower than that of PM2.5.
	compare := func(a, b Named, how string) string {
		return fmt.Sprintf("PM10 includes PM2.5, and %s has %s, %s than the %s of %s", a.Name, a.Values.Span(), how, b.Values.Span(), b.Name)
	}
	low.Doubt, high.Doubt = compare(low, high, "lower"), compare(high, low, "higher")
}
