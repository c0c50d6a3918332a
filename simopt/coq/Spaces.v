(** What the files of headline results share: sums and means of lists, hinges, and spaces with an inner product. *)

From Coq Require Export Reals Lra Psatz Lia List Arith.
Export ListNotations.
Open Scope R_scope.

(** * Definitions *)

Definition hinge (x : R) : R := Rmax x 0.
Definition sum (l : list R) : R := fold_right Rplus 0 l.
Definition mean (l : list R) : R := sum l / INR (length l).

(** A space with an inner product, of any dimension. *)
Record space := Space {
  vector :> Type; add : vector -> vector -> vector; scale : R -> vector -> vector; inner : vector -> vector -> R; zero : vector;
  inner_symmetric : forall u v, inner u v = inner v u;
  inner_add : forall u v w, inner (add u v) w = inner u w + inner v w;
  inner_scale : forall c u v, inner (scale c u) v = c * inner u v;
  inner_zero : forall v, inner zero v = 0;
  inner_positive : forall v, 0 <= inner v v }.
Arguments add {s}. Arguments scale {s}. Arguments inner {s}. Arguments zero {s}.
Definition norm2 {E : space} (v : E) : R := inner v v.
Definition minus {E : space} (u v : E) : E := add u (scale (-1) v).

(** The mean map of points that are multiplied by their labels, psi_i = y_i phi(x_i). *)
Definition mean_map {E : space} (l : list E) : E := scale (/ INR (length l)) (fold_right add zero l).

(** * Lemmas *)

Lemma sum_cons a l : sum (a :: l) = a + sum l. Proof. reflexivity. Qed.

Lemma sum_le {A} (f g : A -> R) l : (forall a, In a l -> f a <= g a) -> sum (map f l) <= sum (map g l).
Proof.
  induction l as [|a l IH]; intros H; cbn [map]; [apply Rle_refl|]. rewrite !sum_cons.
  apply Rplus_le_compat; [apply H; now left | apply IH; intros b B; apply H; now right].
Qed.

Lemma sum_add {A} (f g : A -> R) l : sum (map (fun a => f a + g a) l) = sum (map f l) + sum (map g l).
Proof. induction l as [|a l IH]; cbn [map]; rewrite ?sum_cons; [simpl; ring|]. rewrite IH. ring. Qed.

Lemma sum_scale {A} c (f : A -> R) l : sum (map (fun a => c * f a) l) = c * sum (map f l).
Proof. induction l as [|a l IH]; cbn [map]; rewrite ?sum_cons; [simpl; ring|]. rewrite IH. ring. Qed.

Lemma sum_one {A} (l : list A) : sum (map (fun _ => 1) l) = INR (length l).
Proof. induction l as [|a l IH]; [reflexivity|]. cbn [map length]. rewrite sum_cons, IH, S_INR. ring. Qed.

Lemma sum_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> sum (map f l) = sum (map g l).
Proof. intros H. f_equal. now apply map_ext_in. Qed.

Lemma sum_nonnegative {A} (f : A -> R) l : (forall a, In a l -> 0 <= f a) -> 0 <= sum (map f l).
Proof.
  intros H. induction l as [|a l IH]; [apply Rle_refl|]. cbn [map]. rewrite sum_cons.
  apply Rplus_le_le_0_compat; [apply H; now left | apply IH; intros b B; apply H; now right].
Qed.

Lemma sum_single (g : nat -> R) j l : NoDup l -> In j l -> sum (map (fun i => if i =? j then g i else 0) l) = g j.
Proof.
  induction l as [|i l IH]; intros N I; [easy|]. inversion_clear N as [|? ? O N']. cbn [map]. rewrite sum_cons.
  destruct (Nat.eqb_spec i j) as [->|J].
  - replace (sum _) with (0 * sum (map (fun _ => 1) l)); [ring|]. rewrite <- sum_scale. apply sum_ext. intros i K.
    destruct (Nat.eqb_spec i j) as [->|]; [easy | ring].
  - destruct I as [->|I]; [easy|]. rewrite IH by easy. ring.
Qed.

Lemma sum_app l m : sum (l ++ m) = sum l + sum m.
Proof. induction l as [|a l IH]; cbn [app]; rewrite ?sum_cons; [simpl; ring | rewrite IH; ring]. Qed.

Lemma sum_chosen {A} (chosen : A -> bool) c l : sum (map (fun j => if chosen j then c else 0) l) = INR (length (filter chosen l)) * c.
Proof.
  induction l as [|j l IH]; [simpl; ring|]. cbn [map filter]. rewrite sum_cons, IH. destruct (chosen j); [|ring]. cbn [length]. rewrite S_INR. ring.
Qed.

Lemma sum_constant {A} c (l : list A) : sum (map (fun _ => c) l) = INR (length l) * c.
Proof. rewrite <- (sum_one l), Rmult_comm, <- sum_scale. apply sum_ext. intros. ring. Qed.

Lemma beyond_any x : exists n : nat, x < INR n.
Proof.
  exists (Z.to_nat (up x)). rewrite INR_IZR_INZ. destruct (archimed x) as [A _]. apply Rlt_le_trans with (1 := A). apply IZR_le.
  lia.
Qed.

Lemma inner_add_right {E : space} (u v w : E) : inner u (add v w) = inner u v + inner u w.
Proof. now rewrite inner_symmetric, inner_add, (inner_symmetric _ v), (inner_symmetric _ w). Qed.
Lemma inner_scale_right {E : space} c (u v : E) : inner u (scale c v) = c * inner u v.
Proof. now rewrite inner_symmetric, inner_scale, inner_symmetric. Qed.

Lemma inner_sum {E : space} (l : list E) w : inner (fold_right add zero l) w = sum (map (fun p => inner w p) l).
Proof.
  induction l as [|p l IH]; cbn [fold_right map]; [apply inner_zero|]. rewrite inner_add, IH, sum_cons, (inner_symmetric _ p w). reflexivity.
Qed.

Lemma length_positive {A} (l : list A) : l <> [] -> 0 < INR (length l).
Proof. destruct l; [easy|]. intros _. apply lt_0_INR. simpl. lia. Qed.

Lemma inner_mean {E : space} (l : list E) w : inner (mean_map l) w = mean (map (fun p => inner w p) l).
Proof. unfold mean_map, mean. rewrite inner_scale, inner_sum, map_length. unfold Rdiv. ring. Qed.

Lemma hinge_above x : x <= hinge x. Proof. apply Rmax_l. Qed.
Lemma hinge_positive x : 0 <= hinge x. Proof. apply Rmax_r. Qed.
Lemma hinge_of_positive x : 0 <= x -> hinge x = x. Proof. intros. apply Rmax_left. lra. Qed.
Lemma hinge_of_negative x : x <= 0 -> hinge x = 0. Proof. intros. apply Rmax_right. lra. Qed.

Lemma root_of_power x k : 0 < x -> (1 <= k)%nat -> Rpower (x ^ k) (1 / INR k) = x.
Proof.
  intros X K. assert (0 < INR k) by (apply lt_0_INR; lia). rewrite <- Rpower_pow, Rpower_mult by easy. replace (INR k * (1 / INR k)) with 1 by (field; lra).
  now apply Rpower_1.
Qed.

Lemma root_at_most a x k : 0 < a -> 0 < x -> (1 <= k)%nat -> a <= x ^ k -> Rpower a (1 / INR k) <= x.
Proof.
  intros A X K H. rewrite <- (root_of_power x k X K). assert (0 < INR k) by (apply lt_0_INR; lia).
  apply Rle_Rpower_l; [left; apply Rdiv_lt_0_compat; lra | easy].
Qed.
