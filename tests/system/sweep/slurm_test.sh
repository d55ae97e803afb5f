#!/bin/sh
# SPDX-License-Identifier: MIT
# A sweep on a private Slurm cluster: two nodes on loopback, one of which fails during the sweep. --resume completes the
# lost points, and the results equal those of the local engine byte for byte. The same of `heddle sample`. Needs root and
# Debian's slurm-wlm and munge; exits with 77 if they are missing.
#   slurm_test.sh HEDDLE JOB.json
set -eu
heddle=$1
job=$2
traces=$(cd "$(dirname "$0")/../../sampling" && pwd)/decoder_traces.py
for command in sbatch squeue scontrol slurmctld slurmd munged mungekey runuser; do
  command -v "$command" >/dev/null || { echo "no $command: skipped"; exit 77; }
done
[ "$(id -u)" -eq 0 ] && id munge >/dev/null 2>&1 || { echo "needs root and the user munge: skipped"; exit 77; }

# A short path, because socket names below it are limited in length.
home=$(mktemp -d /tmp/heddle-slurm.XXXXXX)
chmod 755 "$home"
export SLURM_CONF="$home/slurm.conf"
port=$((20000 + $$ % 20000))
munged_pid= controller= node1= node2=

# Kills the processes running on a node, by its name, with their supervising daemons.
kill_node() {
  for environment in /proc/[0-9]*/environ; do
    grep -qzx "SLURM_CONF=$SLURM_CONF" "$environment" 2>/dev/null || continue
    grep -qzx "SLURMD_NODENAME=$1" "$environment" 2>/dev/null || continue
    process=${environment#/proc/}
    process=${process%/environ}
    parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$process/status" 2>/dev/null || true)
    if [ -n "$parent" ] && grep -q slurmstepd "/proc/$parent/comm" 2>/dev/null; then kill -9 "$parent" 2>/dev/null || true; fi
    kill -9 "$process" 2>/dev/null || true
  done
}

finish() {
  code=$?
  trap - EXIT INT TERM
  [ "$code" -eq 0 ] || tail -n 20 "$home"/*.log 2>/dev/null || true
  scancel --user=root >/dev/null 2>&1 || true
  for node in n1 n2; do kill_node "$node"; done
  # munged's own process, not only the one that started it as another user.
  for process in $node1 $node2 $controller $(cat "$home/munge/pid" 2>/dev/null) $munged_pid; do kill -9 "$process" 2>/dev/null || true; done
  rm -rf "$home"
  exit "$code"
}
trap finish EXIT
trap 'exit 1' INT TERM

mkdir "$home/munge" "$home/state" "$home/work"
mungekey --create --keyfile="$home/munge/key"
chown -R munge "$home/munge"
chmod 711 "$home/munge"
runuser -u munge -- munged --foreground --key-file="$home/munge/key" --socket="$home/munge/socket" --pid-file="$home/munge/pid" \
  --log-file="$home/munge/log" --seed-file="$home/munge/seed" >"$home/munged.log" 2>&1 &
munged_pid=$!

cat >"$SLURM_CONF" <<END
ClusterName=heddle
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$home/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$home/prolog
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=100000,bf_interval=1
ReturnToService=2
JobRequeue=0
SlurmdTimeout=6
SlurmctldTimeout=30
StateSaveLocation=$home/state
SlurmctldPidFile=$home/controller.pid
SlurmctldLogFile=$home/controller.log
SlurmdSpoolDir=$home/spool.%n
SlurmdPidFile=$home/%n.pid
SlurmdLogFile=$home/%n.log
NodeName=n[1-2] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=1
PartitionName=p Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
END
# Each job starts with this. The node n2 runs one job; the next one is held for ever, so that the node fails with work to
# do, however fast the points are.
cat >"$home/prolog" <<END
#!/bin/sh
[ "\$SLURMD_NODENAME" = n2 ] && [ -e "$home/failing" ] || exit 0
if [ ! -e "$home/first" ]; then touch "$home/first"; exit 0; fi
touch "$home/held"
exec sleep 900
END
chmod 755 "$home/prolog"
for i in $(seq 100); do [ -S "$home/munge/socket" ] && break; sleep 0.1; done
slurmctld -D -f "$SLURM_CONF" >"$home/controller.out.log" 2>&1 &
controller=$!
slurmd -D -N n1 -f "$SLURM_CONF" >"$home/n1.out.log" 2>&1 &
node1=$!
slurmd -D -N n2 -f "$SLURM_CONF" >"$home/n2.out.log" 2>&1 &
node2=$!
for i in $(seq 300); do
  [ "$(sinfo --noheader --format=%D --states=idle 2>/dev/null | tr -d ' \n')" = 2 ] && break
  [ "$i" -lt 300 ] || { sinfo || true; echo "Slurm did not come up"; exit 1; }
  sleep 0.1
done

cd "$home/work"
points=200
cat >s.ini <<END
[sweep]
job = $job
store = s.sqlite
[axes]
gpu.sm_count = 1
l1.latency_cycles = 30:$((29 + points)):1
END
"$heddle" sweep s.ini --quiet
mv s.sqlite local.sqlite
mv s.csv local.csv
rm -r s.sqlite.points

results() { find "${1:-s}.sqlite.points" -name '*.json' ! -name store.json 2>/dev/null | wc -l; }

# The node fails while it holds a job: all its processes and its daemon.
fail_node2() {
  for i in $(seq 1200); do [ -e "$home/held" ] && break; sleep 0.05; done
  [ -e "$home/held" ] || { echo "no second job came to the node"; exit 1; }
  kill -9 "$node2"
  kill_node n2
}
return_node2() {
  rm -f "$home/failing" "$home/first" "$home/held"
  slurmd -D -N n2 -f "$SLURM_CONF" >>"$home/n2.out.log" 2>&1 &
  node2=$!
}

touch "$home/failing"
"$heddle" sweep s.ini --engine slurm --jobs 20 --slurm-args "--partition=p --time=10" --progress always &
sweep=$!
fail_node2
code=0
wait "$sweep" || code=$?
lost=$((points - $(results)))
echo "the node that died took $lost points with it; the sweep's code is $code"
[ "$lost" -gt 0 ] && [ "$code" -eq 1 ] || { echo "expected lost points, and code 1"; exit 1; }
grep -q ,missing, s.csv

# The node returns, and its points are completed.
return_node2
"$heddle" sweep s.ini --engine slurm --jobs 20 --resume
cmp s.sqlite local.sqlite
cmp s.csv local.csv
echo "$points points, the same bytes"

# A sample of a list of traces. The same command goes on.
"$traces" traces --launches 3000
"$heddle" sample traces/kernelslist.g --gpu h100 --output here --json here.json >here.txt
sample() {
  "$heddle" sample traces/kernelslist.g --gpu h100 --output there --json there.json --engine slurm --jobs 8 --slurm-args "--partition=p --time=10"
}
touch "$home/failing"
sample >there.txt &
sampling=$!
fail_node2
code=0
wait "$sampling" || code=$?
kept=$(results there/results)
all=$(results here/results)
echo "the node that died left $kept of $all launches; the sample's code is $code"
[ "$kept" -lt "$all" ] && [ "$code" -eq 1 ] || { echo "expected lost launches, and code 1"; exit 1; }
return_node2
sample >there.txt
cmp there.txt here.txt
cmp there.json here.json
cmp there/results.csv here/results.csv
cmp there/results.sqlite here/results.sqlite
echo "$all launches, the same bytes"
