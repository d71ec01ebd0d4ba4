# One TCP connection in ns-2: s1 - r1 - k1 with a slow link r1-k1 and packets lost by number before its queue.
#   ns live.tcl AGENT SINK CONTROL ACCESS DELAY RATE PROPAGATION QUEUE WINDOW DROPS UNTIL TRACE {SETTING ...}
# CONTROL: a module of Agent/TCP/Linux, or "-". DROPS: numbers from 0, the SYN's. SETTING: NAME=VALUE of the agent.
# The trace has every packet on r1-k1. The line "timeouts N" says how often the timer expired.
foreach {agent sink control access delay rate propagation queue window drops until trace} $argv break
set settings [lrange $argv 12 end]

set ns [new Simulator]
foreach node {s1 r1 k1} { set $node [$ns node] }
$ns duplex-link $s1 $r1 $access $delay DropTail
$ns duplex-link $r1 $k1 $rate $propagation DropTail
$ns queue-limit $s1 $r1 10000
$ns queue-limit $r1 $k1 $queue
$ns queue-limit $k1 $r1 10000

if {[llength $drops] > 0} {
    set module [new ErrorModule Fid]
    [$ns link $r1 $k1] errormodule $module
    set model [new ErrorModel/List]
    $model droplist $drops
    $module insert $model
    $module bind $model 1
}
set out [open $trace w]
$ns trace-queue $r1 $k1 $out

Agent/TCPSink/Sack1 set ts_echo_rfc1323_ true
set tcp [$ns create-connection $agent $s1 $sink $k1 1]
if {$control ne "-"} {
    $tcp set timestamps_ true
    $ns at 0.0 "$tcp select_ca $control"
}
$tcp set window_ $window
$tcp set packetSize_ 1000
foreach setting $settings {
    foreach {name value} [split $setting =] { $tcp set $name $value }
}
set ftp [$tcp attach-app FTP]
$ns at 1.0 "$ftp start"
$ns at $until "finish"
proc finish {} {
    global ns out tcp
    $ns flush-trace
    close $out
    puts "timeouts [$tcp set nrexmit_]"
    exit 0
}
$ns run
