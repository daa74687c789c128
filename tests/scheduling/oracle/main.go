// Oracle answers with Kueue's own scheduler code what it would do in given situations: JSON lines in, JSON lines out.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"time"

	"github.com/go-logr/logr"
	clocktesting "k8s.io/utils/clock/testing"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	utiltesting "sigs.k8s.io/kueue/pkg/util/testing"
	"sigs.k8s.io/kueue/pkg/workload"
)

type head struct {
	Workload kueue.Workload              `json:"workload"`
	Queue    kueue.ClusterQueueReference `json:"queue"`
}

type situation struct {
	Queues    []kueue.ClusterQueue   `json:"queues"`
	Cohorts   []kueue.Cohort         `json:"cohorts"`
	Flavors   []kueue.ResourceFlavor `json:"flavors"`
	Workloads []kueue.Workload       `json:"workloads"`
	Heads     []head                 `json:"heads"`
}

type figures struct {
	Queue     string `json:"queue"`
	Flavor    string `json:"flavor"`
	Resource  string `json:"resource"`
	Available int64  `json:"available"`
	Potential int64  `json:"potential"`
}

type decision struct {
	Mode      string              `json:"mode"`
	Borrowing int                 `json:"borrowing"`
	Message   string              `json:"message"`
	Flavors   []map[string]string `json:"flavors"`
	Victims   [][2]string         `json:"victims"`
}

type answer struct {
	Figures   []figures  `json:"figures"`
	Decisions []decision `json:"decisions"`
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for in.More() {
		var asked situation
		must(in.Decode(&asked))
		must(out.Encode(ask(context.Background(), asked)))
	}
}

func ask(ctx context.Context, asked situation) answer {
	client := utiltesting.NewFakeClient()
	snapshot := take(ctx, schdcache.New(client), asked)
	clock := clocktesting.NewFakeClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	ordering := workload.Ordering{PodsReadyRequeuingTimestamp: configapi.EvictionTimestamp}
	preemptor := preemption.New(
		client, ordering, &utiltesting.EventRecorder{}, nil, false, clock, nil, expectations.New(), nil)

	var found answer
	for _, queue := range asked.Queues {
		found.Figures = append(found.Figures, figuresOf(snapshot, queue)...)
	}
	for _, each := range asked.Heads {
		found.Decisions = append(found.Decisions, decide(ctx, snapshot, preemptor, each))
	}
	return found
}

func take(ctx context.Context, cache *schdcache.Cache, asked situation) *schdcache.Snapshot {
	for i := range asked.Flavors {
		cache.AddOrUpdateResourceFlavor(logr.Discard(), &asked.Flavors[i])
	}
	for i := range asked.Queues {
		must(cache.AddClusterQueue(ctx, &asked.Queues[i]))
	}
	for i := range asked.Cohorts {
		must(cache.AddOrUpdateCohort(&asked.Cohorts[i]))
	}
	for i := range asked.Workloads {
		if !cache.AddOrUpdateWorkload(logr.Discard(), &asked.Workloads[i]) {
			log.Fatalf("workload %s has no queue", asked.Workloads[i].Name)
		}
	}
	snapshot, err := cache.Snapshot(ctx)
	must(err)
	return snapshot
}

func figuresOf(snapshot *schdcache.Snapshot, queue kueue.ClusterQueue) []figures {
	var found []figures
	node := snapshot.ClusterQueue(kueue.ClusterQueueReference(queue.Name))
	for _, group := range queue.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			for _, resource := range flavor.Resources {
				key := resources.FlavorResource{Flavor: flavor.Name, Resource: resource.Name}
				found = append(found, figures{
					queue.Name, string(flavor.Name), string(resource.Name),
					node.Available(key).Int64(), node.PotentialAvailable(key).Int64(),
				})
			}
		}
	}
	return found
}

func decide(ctx context.Context, snapshot *schdcache.Snapshot, preemptor *preemption.Preemptor, asked head) decision {
	info := workload.NewInfo(&asked.Workload)
	info.ClusterQueue = asked.Queue
	assigner := flavorassigner.New(
		info, snapshot.ClusterQueue(asked.Queue), snapshot.ResourceFlavors, false,
		preemption.NewOracle(preemptor, snapshot), nil, configapi.QuotaCheckBlockUndeclared,
		resources.NewResourceFormatter(), 1)
	assignment := assigner.Assign(ctx, nil)
	made := decision{
		Mode: assignment.RepresentativeMode().String(), Borrowing: assignment.Borrows(), Message: assignment.Message(),
	}
	for _, podSet := range assignment.PodSets {
		flavors := map[string]string{}
		for resource, flavor := range podSet.Flavors {
			flavors[string(resource)] = string(flavor.Name)
		}
		made.Flavors = append(made.Flavors, flavors)
	}
	if assignment.RepresentativeMode() == flavorassigner.Preempt {
		for _, target := range preemptor.GetTargets(ctx, *info, assignment, snapshot) {
			made.Victims = append(made.Victims, [2]string{target.WorkloadInfo.Obj.Name, target.Reason})
		}
	}
	return made
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
